package prompt_test

import (
	"encoding/xml"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

// node is an element as encoding/xml reads it.
type node struct {
	name string
	attr map[string]string
	text string // directly in it
	kids []*node
}

var xmlSections = map[string]string{
	"pinned-notes": "pinned", "entity-context": "entities", "linked-notes": "linked",
	"found-notes": "search", "calendar": "calendar", "action-items": "actions",
	"referenced": "referenced", "memories": "memory", "passages": "passages",
}

// parseXML reads a prompt with the reader of the standard library, and fails on
// any element and attribute that the format does not explain.
func parseXML(s string) (*parsed, error) {
	root := &node{}
	stack := []*node{root}
	for d := xml.NewDecoder(strings.NewReader(s)); ; {
		tok, err := d.Token()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, err
		}
		top := stack[len(stack)-1]
		switch tok := tok.(type) {
		case xml.StartElement:
			n := &node{name: tok.Name.Local, attr: make(map[string]string)}
			for _, a := range tok.Attr {
				n.attr[a.Name.Local] = a.Value
			}
			top.kids = append(top.kids, n)
			stack = append(stack, n)
		case xml.EndElement:
			stack = stack[:len(stack)-1]
		case xml.CharData:
			top.text += string(tok)
		default:
			return nil, fmt.Errorf("a prompt has no %T", tok)
		}
	}
	if strings.TrimSpace(root.text) != "" {
		return nil, fmt.Errorf("text between sections: %q", root.text)
	}
	p := &parsed{}
	for _, n := range root.kids {
		section := xmlSections[n.name]
		if section == "" || len(n.attr) > 0 {
			return nil, fmt.Errorf("no section: %s %v", n.name, n.attr)
		}
		p.sections = append(p.sections, section)
		for _, kid := range n.kids {
			item, err := xmlItem(section, kid)
			if err != nil {
				return nil, err
			}
			p.items = append(p.items, *item)
		}
	}
	return p, nil
}

func xmlItem(section string, n *node) (*parsedItem, error) {
	item := &parsedItem{section: section, kind: n.name, id: n.attr["id"], title: n.attr["title"]}
	allowed := []string{"id", "title", "vault", "b"}
	switch n.name {
	case "note":
		item.bound, item.vault = n.attr["b"], n.attr["vault"]
		text, ok := strings.CutPrefix(n.text, "\n")
		if !ok || len(n.kids) > 0 {
			return nil, fmt.Errorf("note %s begins with %q", item.id, n.text)
		}
		item.text = strings.TrimSuffix(text, "\n")
	case "passage":
		allowed = []string{"id", "cite", "book", "section", "page", "row", "b"}
		item.title, item.bound = n.attr["cite"], n.attr["b"]
		text, ok := strings.CutPrefix(n.text, "\n")
		if !ok || len(n.kids) > 0 {
			return nil, fmt.Errorf("passage %s begins with %q", item.id, n.text)
		}
		item.text = strings.TrimSuffix(text, "\n")
	case "entity":
		allowed = []string{"id", "name", "type", "note", "why"}
		item.title, item.typ, item.note, item.why = n.attr["name"], n.attr["type"], n.attr["note"], n.attr["why"]
		for _, kid := range n.kids {
			if kid.name == "not-expanded" {
				item.partial = true
				continue
			}
			f, err := xmlField(kid)
			if err != nil {
				return nil, err
			}
			item.fields = append(item.fields, f)
		}
		if strings.TrimSpace(n.text) != "" {
			return nil, fmt.Errorf("text in entity %s: %q", item.id, n.text)
		}
	case "event":
		allowed = []string{"title", "start", "end", "location"}
		item.fields = attributes(n, "start", "end", "location")
		for _, kid := range n.kids {
			item.fields = append(item.fields, parsedField{kid.name, []part{{text: kid.text}}})
		}
	case "action":
		allowed = []string{"id", "status", "due", "for"}
		item.title, item.fields = n.text, attributes(n, "status", "due", "for")
	case "memory":
		allowed = []string{"id", "source", "kind", "tier", "status", "ref", "by", "day", "conversation", "b"}
		item.title, item.typ, item.text, item.bound = sourceLabels[n.attr["source"]], n.attr["kind"], n.text, n.attr["b"]
		if ref := n.attr["ref"]; ref != "" {
			item.title += " " + ref
		}
		if status := n.attr["status"]; status != "" && status != "active" {
			item.typ += ", " + status
		}
		for _, name := range []string{"by", "day"} {
			if said := n.attr[name]; said != "" {
				item.typ += ", " + said
			}
		}
		if said := n.attr["conversation"]; said != "" {
			item.typ += ", in " + said
		}
		for _, kid := range n.kids {
			switch {
			case len(kid.kids)+len(kid.attr) > 0 || item.why != "":
				return nil, fmt.Errorf("memory %s holds %s", item.id, kid.name)
			case kid.name == "contradicts":
				item.fields = append(item.fields, parsedField{kid.name, []part{{text: kid.text}}})
			case kid.name == "answers":
				item.why = kid.text
			default:
				return nil, fmt.Errorf("memory %s holds %s", item.id, kid.name)
			}
		}
	default:
		return nil, fmt.Errorf("no item: %s", n.name)
	}
	for _, name := range slices.Sorted(maps.Keys(n.attr)) {
		if !slices.Contains(allowed, name) {
			return nil, fmt.Errorf("%s has no attribute %s", n.name, name)
		}
	}
	return item, nil
}

// sourceLabels are how Markdown says the sources of memories.
var sourceLabels = map[string]string{
	"referenced": "REFERENCED", "attached": "ATTACHED", "pinned": "GLOBAL PINNED", "conv_pinned": "CONV PINNED",
}

func attributes(n *node, names ...string) (fields []parsedField) {
	for _, name := range names {
		if v, ok := n.attr[name]; ok {
			fields = append(fields, parsedField{name, []part{{text: v}}})
		}
	}
	return fields
}

func xmlField(n *node) (f parsedField, err error) {
	if n.name != "field" || len(n.attr) != 1 {
		return f, fmt.Errorf("no field: %s %v", n.name, n.attr)
	}
	f.name = n.attr["name"]
	if len(n.kids) == 0 {
		f.parts = []part{{text: n.text}}
		return f, nil
	}
	if n.text != "" {
		return f, fmt.Errorf("text among references: %q", n.text)
	}
	for _, kid := range n.kids {
		switch kid.name {
		case "item":
			f.parts = append(f.parts, part{kind: "item", text: kid.text})
		case "more":
			f.parts = append(f.parts, part{kind: "more", text: kid.attr["count"]})
		case "ref":
			r := part{kind: kid.attr["state"], text: kid.text}
			for _, kind := range []string{"entity", "note"} {
				if id, ok := kid.attr[kind]; ok {
					r.kind, r.id = kind, id
				}
			}
			f.parts = append(f.parts, r)
		default:
			return f, fmt.Errorf("no part of a field: %s", kid.name)
		}
	}
	return f, nil
}
