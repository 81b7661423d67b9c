// Package views compares what the rooms of a store say of every record at two times: before and after the
// store was opened anew. A view that differs was not what is made of the records.
//
// admin.check calls it while nobody else is in the rooms. It keeps nothing.
package views
