"""The OpenAPI document: what it says beside what the routes themselves tell."""

from litestar._openapi.schema_generation import SchemaCreator
from litestar._openapi.schema_generation.plugins.struct import StructSchemaPlugin
from litestar.openapi.spec import Schema
from litestar.typing import FieldDefinition

from api.formats.shapes import Shape


class ClosedShapes(StructSchemaPlugin):
    """Objects of ours have the keys they have and no others, so no two kinds are mistaken.

    The framework has no public way to say so: it writes every struct as open to more keys, and
    an answer that is one of two kinds may then be both.
    """

    def is_plugin_supported_field(self, field_definition: FieldDefinition) -> bool:
        """It is sent by us."""
        return not field_definition.is_union and field_definition.is_subclass_of(Shape)

    def to_openapi_schema(
        self, field_definition: FieldDefinition, schema_creator: SchemaCreator
    ) -> Schema:
        """As the framework has it, but closed."""
        schema = super().to_openapi_schema(field_definition, schema_creator)
        schema.additional_properties = False
        return schema
