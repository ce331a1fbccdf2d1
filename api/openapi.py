"""OpenAPI schema plugin: writes our response structs as closed objects."""

from litestar._openapi.schema_generation import SchemaCreator
from litestar._openapi.schema_generation.plugins.struct import StructSchemaPlugin
from litestar.openapi.spec import Schema
from litestar.typing import FieldDefinition

from api.formats.shape_building import Shape


class ClosedShapes(StructSchemaPlugin):
    """Marks our response objects as having no additional keys, so that alternatives are exclusive.

    The framework has no public option for it: it writes every struct as open to more keys, and an
    answer that is one of two kinds may then match both.
    """

    def is_plugin_supported_field(self, field_definition: FieldDefinition) -> bool:
        """True if the type is one of our response structs."""
        return not field_definition.is_union and field_definition.is_subclass_of(Shape)

    def to_openapi_schema(
        self, field_definition: FieldDefinition, schema_creator: SchemaCreator
    ) -> Schema:
        """Return the framework's schema, closed to additional keys."""
        schema = super().to_openapi_schema(field_definition, schema_creator)
        schema.additional_properties = False
        return schema
