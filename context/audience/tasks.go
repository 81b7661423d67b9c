package audience

import (
	"context"
	"sync"

	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/entities/yield"
	"github.com/ctxd/ctxd/notes"
	"github.com/ctxd/ctxd/notes/markdown"
)

// taskReader reads the tasks of the notes that a reader sees, for queries. They are read from texts when a query asks, and kept
// until the note changes, so that nobody else pays for them: an import and a commit do no more than drop what was kept.
//
// A remote reader's tasks are those of the text that it is shown (Views.Public), read as any text is: what they say is a part of
// what notes.get shows, whatever form a link has, and the lines are those of that text.
type taskReader struct {
	views *Views
	view  *View

	mu   sync.Mutex // guards what follows
	kept map[string]keptTasks
	held int // tasks in kept
}

// keptTasks are those of one version of a note.
type keptTasks struct {
	of       *notes.Note
	meanings uint64 // see View.Meanings
	tasks    []record.Task
}

// maxKeptTasks is how many tasks are kept at most, some 60 MB without the texts, which notes share with them. Those of further
// notes are read each time.
const maxKeptTasks = 200_000

// notesAPoint is how many notes are looked at between two looks at whether the call goes on.
const notesAPoint = 64

// Each is wql.Tasks.
func (r *taskReader) Each(ctx context.Context, found func(n *record.Note, tasks []record.Task) error) error {
	list := make([]*notes.Note, 0, 64)
	for n := range r.view.notes.All() {
		if n.Live() && n.Kind == "" && r.view.SeesNote(n) {
			list = append(list, n)
		}
	}
	for i, n := range list {
		if i%notesAPoint == 0 {
			if err := yield.Point(ctx); err != nil {
				return err
			}
		}
		tasks := r.of(n)
		if len(tasks) == 0 {
			continue
		}
		if err := found(n.Record(), tasks); err != nil {
			return err
		}
	}
	return nil
}

// of returns the tasks of a note as the reader sees it.
func (r *taskReader) of(n *notes.Note) []record.Task {
	meanings := r.view.Meanings()
	r.mu.Lock()
	kept, ok := r.kept[n.ID]
	r.mu.Unlock()
	if ok && kept.of == n && kept.meanings == meanings {
		return kept.tasks
	}
	tasks := r.read(n)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.drop(n.ID)
	if r.held+len(tasks) > maxKeptTasks {
		return tasks
	}
	if r.kept == nil {
		r.kept = make(map[string]keptTasks)
	}
	r.kept[n.ID] = keptTasks{of: n, meanings: meanings, tasks: tasks}
	r.held += len(tasks)
	return tasks
}

// read reads the tasks of a note. Most notes have none, which is told without reading them: what is masked adds none.
func (r *taskReader) read(n *notes.Note) []record.Task {
	if !markdown.MayHaveTasks(n.Body) {
		return nil
	}
	if r.view.hides {
		if n = r.views.Public(n); n == nil {
			return nil // it has become private
		}
	}
	var tasks []record.Task
	markdown.Tasks(n.Body, func(t record.Task) {
		t.Note = n.Title
		tasks = append(tasks, t)
	})
	return tasks
}

func (r *taskReader) drop(id string) {
	r.held -= len(r.kept[id].tasks)
	delete(r.kept, id)
}

// commit drops the tasks of the notes that changed, so that no former text is held.
func (r *taskReader) commit(cs *kv.ChangeSet) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.kept) == 0 {
		return
	}
	for _, ch := range cs.Changes {
		if _, _, ok := notes.Records.Of(ch); ok {
			r.drop(ch.ID)
		}
	}
}
