"""What is said under the fields of a class."""

from itertools import pairwise


def docstrings_of_fields(cls: type) -> dict[str, str]:
    """The texts by field, from the source of the class itself."""
    import ast
    from inspect import cleandoc, getsource
    from textwrap import dedent

    found = {}
    for field, text in pairwise(ast.parse(dedent(getsource(cls))).body[0].body):  # type: ignore[attr-defined] # a class has one
        match field, text:
            case (
                ast.AnnAssign(target=ast.Name(id=name)),
                ast.Expr(value=ast.Constant(value=str(told))),
            ):
                found[name] = cleandoc(told)
    return found
