from behave import given, then, when
from recipes import scaled


@given("a recipe for {portions:d} with {grams:d} g of rice")
def recipe(context, portions, grams):
    context.portions, context.grams = portions, grams


@when("I cook for {wanted:d}")
def cook(context, wanted):
    context.needed = scaled(context.grams, context.portions, wanted)


@then("I need {grams:d} g of rice")
def needed(context, grams):
    assert context.needed == grams, f"expected {grams} g but got {context.needed} g"
