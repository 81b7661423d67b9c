package personality

import (
	"cmp"
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ctxd/ctxd/context/prompt"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/entities/text"
)

// MostPersonalities is how many a person may have of their own.
const MostPersonalities = 100

// Record is a personality as it is stored.
type Record struct {
	ID        string    `json:"id"`
	Template  string    `json:"template"`
	Version   int       `json:"version"`
	CreatedAt time.Time `json:"createdAt"`
	UpdatedAt time.Time `json:"updatedAt"`
}

// Live is for events: a personality is there or not.
func (*Record) Live() bool { return true }

// Choice is the record of the active one.
type Choice struct {
	ID string `json:"id"`
}

var (
	// Records are the personalities of the person's own.
	Records = kv.NewCollection[Record]("personality")
	// Choices has one record, with the id activeKey.
	Choices = kv.NewCollection[Choice]("personality-active")
)

const activeKey = "active"

// Options are what a Store needs from elsewhere.
type Options struct {
	Now func() time.Time // nil: time.Now
}

// Store keeps personalities. Open makes one.
type Store struct {
	db  *kv.Store
	now func() time.Time

	mu     sync.RWMutex // guards what follows
	own    map[string]*Record
	chosen string

	active atomic.Pointer[prompt.Personality]
}

// Open reads the personalities of a store.
func Open(db *kv.Store, opts Options) (*Store, error) {
	s := &Store{db: db, now: opts.Now, own: map[string]*Record{}}
	if s.now == nil {
		s.now = time.Now
	}
	err := db.View(context.Background(), func(tx *kv.Tx) error {
		for id, r := range Records.All(tx, "") {
			s.own[id] = r
		}
		if err := tx.Err(); err != nil {
			return err
		}
		choice, err := Choices.Get(tx, activeKey)
		if choice != nil {
			s.chosen = choice.ID
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	if _, preset := Preset(s.chosen); db.Unmended() && s.chosen != "" && !preset && s.own[s.chosen] == nil {
		s.chosen = "" // it is lost
		if err := db.Update(context.Background(), func(tx *kv.Tx) error { return Choices.Delete(tx, activeKey) }); err != nil {
			return nil, err
		}
	}
	s.settle()
	db.OnCommit(s.commit)
	return s, nil
}

func (s *Store) commit(cs *kv.ChangeSet) {
	changed := false
	for _, ch := range cs.Changes {
		if _, now, ok := Records.Of(ch); ok {
			s.mu.Lock()
			if now == nil {
				delete(s.own, ch.ID)
			} else {
				s.own[ch.ID] = now
			}
			s.mu.Unlock()
			changed = true
		}
		if _, now, ok := Choices.Of(ch); ok {
			s.mu.Lock()
			s.chosen = ""
			if now != nil {
				s.chosen = now.ID
			}
			s.mu.Unlock()
			changed = true
		}
	}
	if changed {
		s.settle()
	}
}

// settle reads the active template.
func (s *Store) settle() {
	s.mu.RLock()
	defer s.mu.RUnlock()
	s.active.Store(nil)
	if text, ok := s.textOf(s.chosen); ok {
		if t, _, _ := ParseTemplate(text); t != nil {
			s.active.Store(t.Personality(s.chosen))
		}
	}
}

// textOf returns the template of an id. It is called with mu held.
func (s *Store) textOf(id string) (string, bool) {
	if r := s.own[id]; r != nil {
		return r.Template, true
	}
	return Preset(id)
}

// Active is what prompts begin with; nil when no personality is active.
func (s *Store) Active() *prompt.Personality { return s.active.Load() }

// shown is a personality for readers. It is called with mu held.
func (s *Store) shown(id string, whole bool) record.Personality {
	p := record.Personality{ID: id, Active: id == s.chosen}
	text, _ := s.textOf(id)
	if r := s.own[id]; r != nil {
		created, updated := r.CreatedAt, r.UpdatedAt
		p.Version, p.CreatedAt, p.UpdatedAt = r.Version, &created, &updated
	} else {
		p.Preset = true
	}
	if t, _, _ := ParseTemplate(text); t != nil {
		p.Name, p.Role = t.Name, t.Role
	}
	if whole {
		p.Template = text
	}
	return p
}

// List returns all personalities: presets, then the person's own by id.
func (s *Store) List() []record.Personality {
	s.mu.RLock()
	defer s.mu.RUnlock()
	var list []record.Personality
	for _, id := range Presets() {
		list = append(list, s.shown(id, false))
	}
	for _, id := range s.ids() {
		list = append(list, s.shown(id, false))
	}
	return list
}

func (s *Store) ids() []string {
	list := make([]string, 0, len(s.own))
	for id := range s.own {
		list = append(list, id)
	}
	slices.Sort(list)
	return list
}

// Get returns a personality with its template; "" is the active one.
func (s *Store) Get(id string) (record.Personality, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if id = cmp.Or(id, s.chosen); id == "" {
		return record.Personality{}, fault.New(fault.NotFound, "no personality is active").
			WithHint("give the id of one; ctxd personality list shows all")
	}
	if _, ok := s.textOf(id); !ok {
		return record.Personality{}, missing(id)
	}
	return s.shown(id, true), nil
}

func missing(id string) *fault.Error {
	return fault.Missing("personality", id).WithHint("ctxd personality list shows all")
}

var validID = text.Pattern(`^[a-z0-9][a-z0-9-]{0,63}$`)

// IDOf makes an id of the name of an assistant; "" when nothing of it can stand in one.
func IDOf(name string) string {
	id := strings.Trim(regexp.MustCompile(`[^a-z0-9]+`).ReplaceAllString(strings.ToLower(name), "-"), "-")
	return strings.TrimRight(id[:min(len(id), 64)], "-")
}

// Refused returns the error for a template with errors; nil for none.
func Refused(errs []TemplateProblem) error {
	if len(errs) == 0 {
		return nil
	}
	first := errs[0]
	msg := first.Message
	if len(errs) > 1 {
		msg += fmt.Sprintf(" (and %d more errors)", len(errs)-1)
	}
	e := fault.Field("template", "%s", msg)
	e.Line, e.Column = first.Line, first.Column
	return e.WithHint("%s", cmp.Or(first.Hint, "personality.validate tells all that is wrong"))
}

// Draft is a personality that is to be written.
type Draft struct {
	ID       string // "": made of the name in the template
	Template string
}

// checked is a Draft that can be written.
type checked struct {
	Draft
	warnings []TemplateProblem
}

func check(d Draft) (*checked, error) {
	if len(d.Template) > MaxTemplateBytes {
		return nil, fault.TooLarge("template", len(d.Template), MaxTemplateBytes, "bytes")
	}
	t, errs, warnings := ParseTemplate(d.Template)
	if err := Refused(errs); err != nil {
		return nil, err
	}
	if d.ID == "" {
		if d.ID = IDOf(t.Name); d.ID == "" {
			return nil, fault.Field("id", "no id can be made of the name %q", t.Name).WithHint("give an id of a-z, 0-9 and hyphens")
		}
	}
	if !validID().MatchString(d.ID) {
		return nil, fault.Field("id", "%q is no id of a personality", d.ID).
			WithHint("give at most 64 of a-z, 0-9 and hyphens, such as %s", cmp.Or(IDOf(d.ID), "coach"))
	}
	if _, preset := Preset(d.ID); preset {
		return nil, (&fault.Error{Kind: fault.Conflict, Reason: fault.State, Ref: d.ID, Msg: fmt.Sprintf("%s is compiled in and can't be changed", d.ID)}).
			WithHint("give your own another id, such as my-%s", d.ID)
	}
	return &checked{d, warnings}, nil
}

// Put writes a personality. ifVersion is the version that the caller changes, 0 for a new one, nil for any.
func (s *Store) Put(ctx context.Context, d Draft, ifVersion *int) (record.Personality, []TemplateProblem, error) {
	c, err := check(d)
	if err != nil {
		return record.Personality{}, nil, err
	}
	err = s.db.Update(ctx, func(tx *kv.Tx) error {
		old, err := Records.Get(tx, c.ID)
		if err != nil {
			return err
		}
		if ifVersion != nil {
			have := 0
			if old != nil {
				have = old.Version
			}
			if have != *ifVersion {
				return fault.Stale("personality", c.ID, have, *ifVersion)
			}
		}
		return s.put(tx, c, old)
	})
	if err != nil {
		return record.Personality{}, nil, err
	}
	p, err := s.Get(c.ID)
	return p, c.warnings, err
}

// put writes the next version of what stands under the id, if it says something else.
func (s *Store) put(tx *kv.Tx, c *checked, old *Record) error {
	now := s.now().UTC()
	next := &Record{ID: c.ID, Template: c.Template, Version: 1, CreatedAt: now, UpdatedAt: now}
	if old != nil {
		if old.Template == c.Template {
			return nil
		}
		next.Version, next.CreatedAt = old.Version+1, old.CreatedAt
		return Records.Put(tx, c.ID, next)
	}
	n := 1
	for range Records.All(tx, "") {
		n++
	}
	if n > MostPersonalities {
		return fault.TooLarge("id", n, MostPersonalities, "personalities").WithHint("delete one of them")
	}
	return Records.Put(tx, c.ID, next)
}

// Delete removes a personality that is not active.
func (s *Store) Delete(ctx context.Context, id string, ifVersion *int) error {
	if _, preset := Preset(id); preset {
		return (&fault.Error{Kind: fault.Conflict, Reason: fault.State, Ref: id, Msg: fmt.Sprintf("%s is compiled in and can't be deleted", id)}).
			WithHint("activate another one, or none")
	}
	return s.db.Update(ctx, func(tx *kv.Tx) error {
		old, err := Records.Get(tx, id)
		switch {
		case err != nil:
			return err
		case old == nil:
			return missing(id)
		case ifVersion != nil && *ifVersion != old.Version:
			return fault.Stale("personality", id, old.Version, *ifVersion)
		}
		choice, err := Choices.Get(tx, activeKey)
		if err != nil {
			return err
		}
		if choice != nil && choice.ID == id {
			return (&fault.Error{Kind: fault.Conflict, Reason: fault.State, Ref: id, Msg: fmt.Sprintf("%s is active", id)}).
				WithHint("activate another one, or none, before you delete it")
		}
		return Records.Delete(tx, id)
	})
}

// Activate has prompts begin with a personality from now on, "" with none.
func (s *Store) Activate(ctx context.Context, id string) error {
	return s.db.Update(ctx, func(tx *kv.Tx) error {
		if id == "" {
			return Choices.Delete(tx, activeKey)
		}
		text, ok := Preset(id)
		if !ok {
			r, err := Records.Get(tx, id)
			if err != nil {
				return err
			}
			if r == nil {
				return missing(id)
			}
			text = r.Template
		}
		if _, errs, _ := ParseTemplate(text); len(errs) > 0 { // of a program that took more
			return Refused(errs)
		}
		return Choices.Put(tx, activeKey, &Choice{id})
	})
}

// Check says which records are none that were written here.
func Check(tx *kv.Tx) (problems []string, err error) {
	for id, r := range Records.All(tx, "") {
		if r.ID != id || !validID().MatchString(id) || r.Version < 1 {
			problems = append(problems, fmt.Sprintf("the personality %s is not what was written", id))
		}
	}
	for key, choice := range Choices.All(tx, "") {
		_, preset := Preset(choice.ID)
		has, err := Records.Has(tx, choice.ID)
		if err != nil {
			return problems, err
		}
		if key != activeKey || !preset && !has {
			problems = append(problems, fmt.Sprintf("the active personality %s is not there", choice.ID))
		}
	}
	return problems, tx.Err()
}
