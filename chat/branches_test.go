package chat_test

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/ctxd/ctxd/chat"
	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/entities/record"
)

// said is a message of the plain model of a conversation: a tree.
type said struct {
	id, role string
	private  bool
	parent   *said // nil: the beginning
}

// tree is a conversation as a list of messages in the order in which they were said.
type tree []*said

func (t tree) seen(local bool) (list tree) {
	for _, m := range t {
		if local || !m.private {
			list = append(list, m)
		}
	}
	return list
}

// path are the messages that a reader sees from the beginning to one, the earlier first.
func path(m *said, local bool) (ids []string) {
	for ; m != nil; m = m.parent {
		if local || !m.private {
			ids = append(ids, m.id)
		}
	}
	slices.Reverse(ids)
	return ids
}

// branch is what chat.get shows: the path to the newest message that the reader sees, of those behind one with an id if
// that is given.
func (t tree) branch(local bool, of string) (ids []string) {
	for _, m := range t.seen(local) {
		if p := path(m, local); of == "" || slices.Contains(p, of) {
			ids = p
		}
	}
	return ids
}

// others are where other branches begin: messages off the branch whose nearest one before that the reader sees is on it,
// or is none.
func (t tree) others(local bool, branch []string) (ids []string) {
	for _, m := range t.seen(local) {
		p := path(m, local)
		if slices.Contains(branch, m.id) || len(p) > 1 && !slices.Contains(branch, p[len(p)-2]) {
			continue
		}
		ids = append(ids, m.id)
	}
	return ids
}

func (t tree) choose(rt *rapid.T, role string) *said {
	var list tree
	for _, m := range t {
		if m.role == role {
			list = append(list, m)
		}
	}
	if len(list) == 0 {
		return nil
	}
	return rapid.SampledFrom(list).Draw(rt, "message")
}

func TestCHAT37_BranchesAreThoseOfATree(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		w := open(t, kv.InMemory, chat.Limits{})
		defer func() { _ = w.db.Close() }()
		added, err := w.chat.Append(t.Context(), w.local, chat.AppendRequest{Messages: []chat.Draft{user("begin")}})
		must(rt, err)
		id := added.ConversationID
		model := tree{{id: added.Messages[0].ID, role: record.RoleUser}}
		for step := range rapid.IntRange(1, 12).Draw(rt, "steps") {
			q := chat.Question{ConversationID: id, Content: fmt.Sprint("q", step), Private: rapid.Bool().Draw(rt, "private")}
			m := &said{role: record.RoleUser, private: q.Private, parent: model[len(model)-1]}
			switch rapid.IntRange(0, 4).Draw(rt, "step") {
			case 0: // go on
			case 4:
				m.parent = rapid.SampledFrom(model).Draw(rt, "parent")
				q.ParentID = m.parent.id
			case 1:
				of := model.choose(rt, record.RoleUser)
				q.Replaces, m.parent, m.private = of.id, of.parent, m.private || of.private
			case 2:
				of := model.choose(rt, record.RoleUser)
				q, m = chat.Question{ConversationID: id, Regenerate: of.id}, of
			case 3:
				of := model.choose(rt, record.RoleAssistant)
				if of == nil || of.parent.role != record.RoleUser {
					continue
				}
				q, m = chat.Question{ConversationID: id, Regenerate: of.id}, of.parent
			}
			turn, err := w.chat.Ask(t.Context(), w.local, q)
			must(rt, err)
			if m.id == "" {
				m.id = turn.Question.ID
				model = append(model, m)
			}
			if turn.Question.ID != m.id {
				rt.Fatalf("the question is %s, want %s", turn.Question.ID, m.id)
			}
			if rapid.IntRange(0, 4).Draw(rt, "interrupted") == 0 {
				continue // no answer
			}
			a := &said{id: turn.AnswerID, role: record.RoleAssistant, private: m.private || rapid.Bool().Draw(rt, "private answer"), parent: m}
			_, err = w.chat.Answered(t.Context(), w.local, turn, &chat.Answer{Content: fmt.Sprint("a", step), Private: a.private})
			must(rt, err)
			model = append(model, a)
		}
		w.sound(rt)
		for _, v := range []*audience.View{w.local, w.remote} {
			w.wantTree(rt, v, id, model)
		}
	})
}

func (w *world) wantTree(rt *rapid.T, v *audience.View, id string, model tree) {
	local := !v.Hides()
	for _, of := range append(tree{{}}, model.seen(local)...) {
		p, err := w.chat.Messages(w.Context(), v, id, of.id, 0, 1000)
		must(rt, err)
		var got []string
		for i, m := range p.Messages {
			got = append(got, m.ID)
			if i > 0 && m.ParentID != nil && *m.ParentID != p.Messages[i-1].ID {
				rt.Fatalf("message %d says that it follows %q, and stands behind %q", m.Index, *m.ParentID, p.Messages[i-1].ID)
			}
		}
		want := model.branch(local, of.id)
		if !slices.Equal(got, want) {
			rt.Fatalf("local %v, branch of %q: %q, want %q", local, of.id, got, want)
		}
		var others []string
		for _, b := range p.Branches {
			others = append(others, b.Message.ID)
		}
		if want := model.others(local, want); !slices.Equal(others, want) {
			rt.Fatalf("local %v, other branches than that of %q begin at %q, want %q", local, of.id, others, want)
		}
	}
}
