package rpc

import (
	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/notes"
	"github.com/ctxd/ctxd/notes/vault"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// checkNote is notes.check, in a vault of that name and folder.
func checkNote(store *notes.Store, ents *entities.Store, queries vault.QueryCheck, name, folder string, p protocol.NoteCheck) (protocol.NoteChecked, error) {
	out := protocol.NoteChecked{Problems: []protocol.NoteProblem{}}
	where, err := renameTarget(name, p.Buffers)
	if err != nil {
		return out, err
	}
	where.Making = vault.MakingOf(folder)
	list, text, err := vault.Diagnose(store, ents, queries, where, p.Path)
	if err != nil {
		return out, err
	}
	at := newUnitOffsets(text)
	for _, f := range list {
		told := protocol.NoteProblem{
			Code: f.Code, Severity: f.Severity, Message: f.Message, Create: f.Create, Type: f.Type, Others: f.Others,
		}
		told.Range = [2]int{at.unit(f.Start)}
		told.Line = at.line
		told.Range[1] = at.unit(f.End)
		for _, fix := range f.Fixes {
			told.Fixes = append(told.Fixes, protocol.NoteFix{Title: fix.Title, New: fix.Edit.New})
		}
		out.Problems = append(out.Problems, told)
	}
	return out, nil
}
