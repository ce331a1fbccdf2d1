"""OpenAPI schema plugin: writes structs with the meaning of each key; ours are closed objects."""

from litestar._openapi.schema_generation import SchemaCreator
from litestar._openapi.schema_generation.plugins.struct import StructSchemaPlugin
from litestar.openapi.spec import Schema
from litestar.typing import FieldDefinition
from msgspec.structs import fields

from api.formats.shape_building import Shape
from api.openapi.attribute_docs import attribute_docs, one_line


class DescribedShapes(StructSchemaPlugin):
    """Describes structs and their keys by their docstrings; closes our response objects.

    Closed objects have no additional keys, so that alternatives are exclusive. The framework has
    no public option for it: it writes every struct as open to more keys, and an answer that is one
    of two kinds may then match both.
    """

    def to_openapi_schema(
        self, field_definition: FieldDefinition, schema_creator: SchemaCreator
    ) -> Schema:
        """Return the framework's schema with descriptions. A key's own `Meta` goes first."""
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
