package gather

import (
	"strings"

	"github.com/ctxd/ctxd/context/prompt"
	"github.com/ctxd/ctxd/entities"
)

// nameNotes calls a note by its path where others have its title (CTX-43), and gives the notes the names of their
// vaults: in the report, where its reader sees
// notes of several, and in the heading of a note when one of another vault is called the same.
// It is done when no commit waits: now and then all notes have to be looked at for it.
func (c *call) nameNotes() {
	for _, t := range c.texts {
		n := &(*t.section)[t.at]
		title := c.title(nil, t.note)
		if called := c.view.CitedAs(t.note); called != title {
			n.Title = called + strings.TrimPrefix(n.Title, title) // which may name a part
		}
	}
	c.nameEntities()
	for _, list := range [][]prompt.Note{c.in.Pinned, c.in.Linked, c.in.Found} {
		for i := range list {
			list[i].Vault = c.told.VaultOf(c.told.Note(list[i].ID))
		}
	}
	for i := range c.in.Dropped {
		if d := &c.in.Dropped[i]; d.Kind == prompt.KindNote && d.ID != "" {
			d.Vault = c.told.VaultOf(c.told.Note(d.ID))
		}
	}
	if len(c.texts) < 2 {
		return
	}
	vaults := make(map[string]string, len(c.texts)) // that a title was first seen in
	several := make(map[string]bool)
	for _, t := range c.texts {
		title, vault := c.titleKey(t), c.view.VaultOf(t.note)
		if first, seen := vaults[title]; seen && first != vault {
			several[title] = true
		}
		vaults[title] = vault
	}
	for _, t := range c.texts {
		if len(several) > 0 && several[c.titleKey(t)] {
			(*t.section)[t.at].HeadVault = c.view.VaultOf(t.note)
		}
	}
}

// titleKey returns what two notes have in common that are called the same.
func (c *call) titleKey(t candidateText) string { return entities.Fold(c.title(nil, t.note)) }

// nameEntities has the heading of an entity say which note is its own where others have its name: of those that may be shown.
func (c *call) nameEntities() {
	most := max(c.g.opts.MaxEntities, prompt.MaxEntities)
	for i := range c.in.Entities {
		candidate := &c.in.Entities[i]
		if i >= most && candidate.Depth > 0 {
			break
		}
		if len(c.view.Named(candidate.Card.Name)) < 2 {
			continue
		}
		e := c.view.Entity(candidate.Card.ID)
		if e != nil && c.view.NameOf(e) == e.Name {
			candidate.Note = c.view.CitedAs(c.view.Note(e.NoteID))
		}
	}
}
