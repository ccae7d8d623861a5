"""Prints since when, and until when, Python's standard library has its modules and members, as typeshed's stubs say.

`python3 python-members.py TYPESHED...`: folders with VERSIONS and stubs, the newest first: older releases know versions that newer ones dropped.
Values: "3.11" is the first release that has it, "-3.12" the first that has not.
"""

import ast
import json
import pathlib
import sys

OLDEST = 7
# Packages of their own that typeshed keeps beside the standard library.
NOT_PYTHON = {"mypy_extensions", "typing_extensions"}
members: dict[str, str] = {}


def note(name: str, value: str) -> None:
    members.setdefault(name, value)


def read_modules(folder: pathlib.Path) -> None:
    for line in (folder / "VERSIONS").read_text().splitlines():
        name, _, versions = line.partition("#")[0].strip().partition(": ")
        if not versions or name.startswith("_") or name in NOT_PYTHON:
            continue
        first, _, last = versions.partition("-")
        if last:
            note(name, f"-3.{minor(last) + 1}")
        elif minor(first) > OLDEST:
            note(name, first)


def minor(version: str) -> int:
    return int(version.split(".")[1])


def read_stub(folder: pathlib.Path, file: pathlib.Path) -> None:
    parts = list(file.relative_to(folder).with_suffix("").parts)
    if parts[-1] == "__init__":
        parts.pop()
    if not parts or parts[0] in NOT_PYTHON or any(part.startswith("_") for part in parts):
        return
    always: set[str] = set()
    found: dict[str, set[str]] = {}
    read_body(file, ast.parse(file.read_text()).body, ".".join(parts), None, always, found)
    for name, values in found.items():
        # What stands in both branches of a test only changed its form.
        if name not in always and len(values) == 1:
            note(name, values.pop())


def read_body(file: pathlib.Path, body: list, prefix: str, value, always: set, found: dict) -> None:
    for node in body:
        if isinstance(node, ast.If):
            since, until = limits(node.test)
            read_body(file, node.body, prefix, value or since, always, found)
            read_body(file, node.orelse, prefix, value or until, always, found)
            continue
        for name in names(node, file):
            full = f"{prefix}.{name}"
            if value is None:
                always.add(full)
            else:
                found.setdefault(full, set()).add(value)
        if isinstance(node, ast.ClassDef):
            read_body(file, node.body, f"{prefix}.{node.name}", value, always, found)


def names(node, file: pathlib.Path) -> list:
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        found = [node.name]
    elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
        found = [node.target.id]
    elif isinstance(node, ast.Assign):
        found = [target.id for target in node.targets if isinstance(target, ast.Name)]
    elif isinstance(node, ast.ImportFrom) and node.level == 1 and node.names[0].name == "*":
        found = public_names(file.parent / f"{node.module}.pyi")
    elif isinstance(node, ast.ImportFrom):
        found = [alias.asname for alias in node.names if alias.asname == alias.name]
    else:
        found = []
    return [name for name in found if not name.startswith("_")]


def public_names(stub: pathlib.Path) -> list:
    """Returns what `from .stub import *` brings: nothing that stands under a test of its own."""
    return [name for node in ast.parse(stub.read_text()).body for name in names(node, stub)] if stub.exists() else []


def limits(test) -> tuple:
    """Returns what the two branches of `sys.version_info >= (3, N)` or `< (3, N)` say; "?" for any other test."""
    if (
        isinstance(test, ast.Compare)
        and ast.unparse(test.left) == "sys.version_info"
        and isinstance(test.comparators[0], ast.Tuple)
    ):
        version = [part.value for part in test.comparators[0].elts][:2]
        if len(version) == 2 and version[0] == 3:
            since, until = f"3.{version[1]}", f"-3.{version[1]}"
            return (since, until) if isinstance(test.ops[0], ast.GtE) else (until, since)
    return "?", "?"


for argument in sys.argv[1:]:
    typeshed = pathlib.Path(argument)
    read_modules(typeshed)
    for stub in sorted(typeshed.rglob("*.pyi")):
        read_stub(typeshed, stub)


def is_kept(name: str, value: str) -> bool:
    if value == "?" or (not value.startswith("-") and minor(value) <= OLDEST):
        return False
    parent = members.get(name.rpartition(".")[0])
    return parent != value


json.dump({name: value for name, value in sorted(members.items()) if is_kept(name, value)}, sys.stdout)
