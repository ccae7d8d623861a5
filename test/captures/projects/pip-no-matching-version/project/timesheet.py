import click
from tabulate import tabulate


@click.command()
@click.argument("hours", type=float, nargs=-1)
def main(hours):
    click.echo(tabulate([[day, value] for day, value in enumerate(hours, 1)], headers=["day", "hours"]))
