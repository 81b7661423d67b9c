package watch

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"

	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/fault"
)

// maxTypeFile bounds the declaration of a type.
const maxTypeFile = 256 << 10

// declaration is a type as .ctxd/types/NAME.yaml states it.
type declaration struct {
	Name   string             `yaml:"name"`
	Fields []fieldDeclaration `yaml:"fields"`
}

type fieldDeclaration struct {
	Name       string   `yaml:"name"`
	Type       string   `yaml:"type"`
	Label      string   `yaml:"label"`
	Options    []string `yaml:"options"`
	TargetType string   `yaml:"targetType"`
	Query      string   `yaml:"query"`
	Required   bool     `yaml:"required"`
}

// declare puts the types that the vault declares. One that can't be put is
// listed and leaves the others alone.
func (r *run) declare(ctx context.Context, paths []string) error {
	for _, p := range paths {
		t, err := r.readType(p)
		if err != nil {
			r.skipped = append(r.skipped, Skip{p, "type left out: " + reason(err)})
			continue
		}
		old := r.ents.Type(t.Name)
		if old != nil && !old.Inferred && old.Name == t.Name && slices.EqualFunc(old.Fields, t.Fields, sameField) {
			continue
		}
		_, found, err := r.ents.PutType(ctx, *t, nil, true)
		switch fault.KindOf(err) {
		case fault.Invalid, fault.Limit, fault.Query:
			if err != nil {
				r.skipped = append(r.skipped, Skip{p, "type left out: " + reason(err)})
				continue
			}
		}
		if err != nil {
			return err
		}
		r.retyped = true
		_ = found // types of one vault refer to each other: what is missing is said by types.list
	}
	return nil
}

func (r *run) readType(p string) (*entities.Type, error) {
	data, err := readFile(r.root, p, maxTypeFile)
	if err != nil {
		return nil, fault.New(fault.Invalid, "the file can't be read")
	}
	var d declaration
	if err := yaml.UnmarshalWithOptions(data, &d, yaml.Strict()); err != nil {
		line, _, _ := strings.Cut(yaml.FormatError(err, false, false), "\n")
		return nil, fault.New(fault.Invalid, "%s", line)
	}
	t := entities.Type{Name: d.Name}
	if t.Name == "" {
		t.Name = strings.TrimSuffix(path.Base(p), path.Ext(p))
	}
	for _, f := range d.Fields {
		t.Fields = append(t.Fields, entities.Field{
			Name: f.Name, Type: entities.FieldType(f.Type), Label: f.Label, Options: f.Options,
			TargetType: f.TargetType, Query: f.Query, Required: f.Required,
		})
	}
	return entities.CheckType(t)
}

func sameField(a, b entities.Field) bool {
	return a.Name == b.Name && a.Type == b.Type && a.Label == b.Label && slices.Equal(a.Options, b.Options) &&
		a.TargetType == b.TargetType && a.Query == b.Query && a.Required == b.Required
}

// reason is the message of an error with the field it is about.
func reason(err error) string {
	msg := fault.Message(err)
	var e *fault.Error
	if ok := errors.As(err, &e); ok && e.Field != "" {
		msg = fmt.Sprintf("%s: %s", e.Field, msg)
	}
	return msg
}
