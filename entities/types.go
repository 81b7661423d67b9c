package entities

import "github.com/ctxd/ctxd/entities/record"

// The records of this package and what they are made of are declared in package record,
// which clients import without the store; here they go by the same names.

type (
	// Entity is one typed record.
	Entity = record.Entity
	// Values are the field values of an entity, by the name of the field.
	Values = record.Values
	// Type is the declaration of a kind of entity.
	Type = record.Type
	// NamedTypes are the types of one name.
	NamedTypes = record.NamedTypes
	// Field is the declaration of a field of a Type.
	Field = record.Field
	// FieldType is what values a field holds.
	FieldType = record.FieldType
	// Diagnostic is one finding about a type or a query.
	Diagnostic = record.Diagnostic
)
