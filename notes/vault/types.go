package vault

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
// listed and leaves the others alone. Types query each other, so one whose
// query can't run is tried again when the others are there.
func (r *run) declare(ctx context.Context, paths []string) error {
	type waiting struct {
		path string
		t    *entities.Type
	}
	var later []waiting
	declaredBy := make(map[string]string)
	for _, p := range paths {
		t, err := r.readType(p)
		if err != nil {
			r.faults.types = append(r.faults.types, ImportSkip{Path: p, Reason: "type left out: " + reason(err)})
			continue
		}
		key := entities.Fold(t.Name)
		if other := declaredBy[key]; other != "" {
			r.faults.types = append(r.faults.types,
				ImportSkip{Path: p, Reason: "type left out: " + path.Base(other) + " declares a type of that name already"})
			continue
		}
		declaredBy[key] = p
		err = r.putType(ctx, t)
		switch {
		case err == nil:
		case fault.KindOf(err) == fault.Query:
			later = append(later, waiting{p, t})
		case fault.KindOf(err) == fault.Invalid, fault.KindOf(err) == fault.Limit:
			r.faults.types = append(r.faults.types, ImportSkip{Path: p, Reason: "type left out: " + reason(err)})
		default:
			return err
		}
	}
	for _, w := range later {
		if err := r.putType(ctx, w.t); fault.KindOf(err) == fault.Query && err != nil {
			r.faults.types = append(r.faults.types, ImportSkip{Path: w.path, Reason: "type left out: " + reason(err)})
		} else if err != nil {
			return err
		}
	}
	return nil
}

// putType declares a type unless it is declared just so.
func (r *run) putType(ctx context.Context, t *entities.Type) error {
	old := r.ents.TypesNamed(t.Name).OfVault(r.name)
	if old != nil && !old.Inferred && old.Name == t.Name && slices.EqualFunc(old.Fields, t.Fields, sameField) {
		return nil
	}
	_, _, err := r.ents.PutType(ctx, *t, nil, true)
	return err
}

func (r *run) readType(p string) (*entities.Type, error) {
	data, _, err := place{Root: r.root}.readFile(p, maxTypeFile)
	if err != nil {
		return nil, fault.New(fault.Invalid, "the file can't be read")
	}
	var d declaration
	if err := yaml.UnmarshalWithOptions(data, &d, yaml.Strict()); err != nil {
		line, _, _ := strings.Cut(yaml.FormatError(err, false, false), "\n")
		return nil, fault.New(fault.Invalid, "%s", line)
	}
	t := entities.Type{Name: d.Name, Vault: r.name}
	if t.Name == "" {
		t.Name = strings.TrimSuffix(path.Base(p), path.Ext(p))
	}
	for _, f := range d.Fields {
		t.Fields = append(t.Fields, entities.Field{
			Name: f.Name, Type: entities.FieldType(f.Type), Label: f.Label, Options: f.Options,
			TargetType: f.TargetType, Query: f.Query, Required: f.Required,
		})
	}
	return entities.CheckType(t, r.ents.Limits().Fields)
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
