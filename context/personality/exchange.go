package personality

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"

	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/kv"
)

// exported is the file that Export writes: templates by id.
type exported struct {
	Personalities yaml.MapSlice `yaml:"personalities"`
}

// MaxFile is how long a file is that Import reads, in bytes.
const MaxFile = 8 << 20

// Export writes personalities to one text that Import reads: those of some ids, or all of the person's own.
func (s *Store) Export(ids []string) (text string, err error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if len(ids) == 0 {
		ids = s.ids()
	}
	out := exported{Personalities: yaml.MapSlice{}}
	for _, id := range ids {
		text, ok := s.textOf(id)
		if !ok {
			return "", missing(id)
		}
		out.Personalities = append(out.Personalities, yaml.MapItem{Key: id, Value: text})
	}
	data, err := yaml.MarshalWithOptions(out, yaml.UseLiteralStyleIfMultiline(true))
	if err != nil {
		return "", fault.Wrap(fault.Internal, err, "the personalities can't be written")
	}
	if got, err := drafts(string(data)); err != nil || !slices.EqualFunc(got, out.Personalities, func(d Draft, i yaml.MapItem) bool {
		return d.ID == i.Key && d.Template == i.Value
	}) {
		// A text that YAML has no literal style for is written in quotes.
		if data, err = yaml.Marshal(out); err != nil {
			return "", fault.Wrap(fault.Internal, err, "the personalities can't be written")
		}
	}
	return string(data), nil
}

// drafts reads a text that Export wrote, or one template.
func drafts(text string) ([]Draft, error) {
	if len(text) > MaxFile {
		return nil, fault.TooLarge("text", len(text), MaxFile, "bytes")
	}
	if !strings.HasPrefix(text, "personalities:") {
		return []Draft{{Template: text}}, nil
	}
	var in exported
	if err := yaml.UnmarshalWithOptions([]byte(text), &in, yaml.Strict()); err != nil {
		msg := "it is no YAML"
		var syntax yaml.Error
		if errors.As(err, &syntax) {
			msg = syntax.GetMessage()
		}
		return nil, fault.Field("text", "the file can't be read: %s", msg).WithHint("give what personality.export wrote, or one template")
	}
	list := make([]Draft, 0, len(in.Personalities))
	for _, item := range in.Personalities {
		id, okID := item.Key.(string)
		text, okText := item.Value.(string)
		if !okID || !okText {
			return nil, fault.Field("text", "personality %v is no text", item.Key).WithHint("give what personality.export wrote, or one template")
		}
		list = append(list, Draft{id, text})
	}
	return list, nil
}

// Imported says what Import did.
type Imported struct {
	IDs       []string // that were written
	Unchanged []string // that say the same already
	Warnings  map[string][]TemplateProblem
}

// Import writes all personalities of a text, or none. One that is there and says something else is a Conflict, unless
// replace is set. Presets in the text that say the same as here are left alone.
func (s *Store) Import(ctx context.Context, text string, replace bool) (*Imported, error) {
	list, err := drafts(text)
	if err != nil {
		return nil, err
	}
	out := &Imported{Warnings: map[string][]TemplateProblem{}}
	var write []*checked
	for _, d := range list {
		if preset, ok := Preset(d.ID); ok && preset == d.Template {
			out.Unchanged = append(out.Unchanged, d.ID)
			continue
		}
		c, err := check(d)
		if err != nil {
			if d.ID != "" {
				err = fault.Under(fmt.Sprintf("text.personalities[%q]", d.ID), err)
			}
			return nil, err
		}
		write = append(write, c)
		if len(c.warnings) > 0 {
			out.Warnings[c.ID] = c.warnings
		}
	}
	same := out.Unchanged
	err = s.db.Update(ctx, func(tx *kv.Tx) error {
		out.IDs, out.Unchanged = nil, slices.Clone(same)
		for _, c := range write {
			old, err := Records.Get(tx, c.ID)
			if err != nil {
				return err
			}
			if old != nil && old.Template != c.Template && !replace {
				return (&fault.Error{Kind: fault.Conflict, Reason: fault.Exists, Ref: c.ID, Msg: fmt.Sprintf("there is another personality %s", c.ID)}).
					WithHint("set replace to write over it")
			}
			if old != nil && old.Template == c.Template {
				out.Unchanged = append(out.Unchanged, c.ID)
				continue
			}
			if err := s.put(tx, c, old); err != nil {
				return err
			}
			out.IDs = append(out.IDs, c.ID)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}
