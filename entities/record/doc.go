// Package record declares what clients of the daemon see of what it keeps: entities,
// their types and the types of fields; notes, links and tags; parts of the graph; rows
// and plans of queries; how stores and vaults stand. The packages that own these records
// (entities, notes, graph, …) work with these very declarations, often under a shorter
// name of their own, and rpc/protocol states its methods in them: nothing is declared
// twice or copied on its way to the wire.
//
// A struct here is the JSON that clients see. The name of a struct is that of its
// component in the protocol's document; the tags of its fields are read by the schema
// there (see rpc/protocol). A change of a field is a change of the protocol.
//
// Beside declarations there is only what belongs to a declaration alone: the table of
// field types with how a value of each is checked (fieldtype.go, value.go), and small
// questions that need nothing else (Entity.Live, Type.Field).
//
// Any package may import this one, and so may programs that talk to the daemon: it
// brings in neither a store nor an index. Values that a store hands out are shared and
// must not be changed; all functions may be called concurrently.
//
// Wall: promise: clients of the daemon read these declarations without bringing in a store or an index.
package record
