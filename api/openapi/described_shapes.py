"""OpenAPI schema plugin: describes structs by their docstrings, and closes response objects.

Attribute docstrings are read from the source, as Python discards them at run time.
"""

import ast
import inspect
import re
import sys
from collections.abc import Mapping, Sequence
from functools import cache
from itertools import pairwise

from litestar._openapi.schema_generation import SchemaCreator
from litestar._openapi.schema_generation.plugins.struct import StructSchemaPlugin
from litestar.openapi.spec import Schema
from litestar.typing import FieldDefinition
from msgspec.structs import fields

from api.formats.shape_building import Shape

_WORDS = {"None": "null", "True": "true", "False": "false"}
_WORD = re.compile(r"\b(None|True|False)\b")
_SPACE = re.compile(r"\s+")


@cache
def attribute_docs(described: type) -> dict[str, str]:
    """Return the docstrings of a class's attributes, with those of its bases, for readers of JSON.

    In one line, null for None. An attribute without one is left out.
    """
    docs: dict[str, str] = {}
    for base in reversed(described.__mro__):
        if base.__module__.startswith(("api.", "config.")):
            docs |= _own_docs(base)
    return docs


def one_line(text: str) -> str:
    """Return a text of the source in one line, with the constants of JSON."""
    return _WORD.sub(lambda found: _WORDS[found[0]], _SPACE.sub(" ", text)).strip()


def _own_docs(described: type) -> dict[str, str]:
    body = _bodies(described.__module__)[described.__name__]
    pairs = pairwise(body)
    return {
        field.target.id: one_line(below.value.value)
        for field, below in pairs
        if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name)
        if isinstance(below, ast.Expr) and isinstance(below.value, ast.Constant)
        if isinstance(below.value.value, str)
    }


@cache
def _bodies(module: str) -> Mapping[str, Sequence[ast.stmt]]:
    """Return the class bodies of a module by their names."""
    tree = ast.parse(inspect.getsource(sys.modules[module]))
    return {node.name: node.body for node in tree.body if isinstance(node, ast.ClassDef)}


class DescribedShapes(StructSchemaPlugin):
    """Describes structs and their keys by their docstrings; closes our response objects.

    Closed objects have no additional keys, so that alternatives are exclusive. Litestar has no
    public option for it: it leaves every struct open to more keys, and an answer that is one of two
    kinds may then match both.
    """

    def to_openapi_schema(
        self, field_definition: FieldDefinition, schema_creator: SchemaCreator
    ) -> Schema:
        """Return Litestar's schema with descriptions. A key's own `Meta` takes precedence."""
        schema = super().to_openapi_schema(field_definition, schema_creator)
        if field_definition.is_subclass_of(Shape):
            schema.additional_properties = False
        struct = field_definition.origin or field_definition.annotation
        schema.description = one_line(struct.__doc__ or "")
        docs, keys = attribute_docs(struct), schema.properties or {}
        for field in fields(struct):
            key = keys[field.encode_name]
            key.description = key.description or docs.get(field.name)
        return schema
