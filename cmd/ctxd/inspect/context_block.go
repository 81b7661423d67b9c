package inspect

import (
	"encoding/xml"
	"strings"

	"github.com/ctxd/ctxd/entities/text"
	"github.com/ctxd/ctxd/graph"
)

// entityBlock is what the block of an entity says of it, in either format of
// prompts. It comes from the text that the model sees, so a drawing shows no
// more than that.
type entityBlock struct {
	typeName string
	fields   []graph.FieldText // references without their ids
}

// readBlock reads the text of an entity in a prompt.
func readBlock(block string) entityBlock {
	if strings.HasPrefix(strings.TrimSpace(block), "<") {
		return readXMLBlock(block)
	}
	return readMarkdownBlock(block)
}

var (
	blockHead  = text.Pattern(`^### @.* \(([^()]*)\) \[id:[A-Za-z0-9_-]+\]`)
	blockField = text.Pattern(`^  ([^:]+): (.*)$`)
	blockID    = text.Pattern(` \[id:[A-Za-z0-9_-]+\]`)
)

func readMarkdownBlock(block string) entityBlock {
	var out entityBlock
	head, body, _ := strings.Cut(block, "\n")
	if m := blockHead().FindStringSubmatch(head); m != nil {
		out.typeName = unescaped(m[1])
	}
	for l := range strings.Lines(body) {
		if m := blockField().FindStringSubmatch(strings.TrimSuffix(l, "\n")); m != nil {
			out.fields = append(out.fields,
				graph.FieldText{Name: unescaped(m[1]), Text: unescaped(blockID().ReplaceAllString(m[2], ""))})
		}
	}
	return out
}

// unescaped takes the backslashes out that keep a text from reading as a link
// or an id.
func unescaped(s string) string {
	return strings.NewReplacer(`\\`, `\`, `\[`, `[`, `\]`, `]`).Replace(s)
}

// xmlEntity is the element of an entity.
type xmlEntity struct {
	Type   string     `xml:"type,attr"`
	Fields []xmlField `xml:"field"`
}

// xmlField is a field: a text, or references and items of a list.
type xmlField struct {
	Name  string `xml:"name,attr"`
	Text  string `xml:",chardata"`
	Parts []struct {
		XMLName xml.Name
		Note    string `xml:"note,attr"`
		Entity  string `xml:"entity,attr"`
		State   string `xml:"state,attr"`
		Count   string `xml:"count,attr"`
		Text    string `xml:",chardata"`
	} `xml:",any"`
}

func readXMLBlock(block string) entityBlock {
	var e xmlEntity
	if xml.Unmarshal([]byte(block), &e) != nil {
		return entityBlock{} // the page shows the text itself in any case
	}
	out := entityBlock{typeName: e.Type}
	for _, f := range e.Fields {
		text, more := strings.TrimSpace(f.Text), ""
		var list []string
		for _, p := range f.Parts {
			switch {
			case p.XMLName.Local == "more":
				more = " (+" + p.Count + " more)"
			case p.State != "":
				list = append(list, strings.TrimSpace(p.Text+" ("+p.State+")"))
			case p.Note != "":
				list = append(list, "[["+p.Text+"]]")
			case p.Entity != "":
				list = append(list, "@"+p.Text)
			default:
				list = append(list, p.Text)
			}
		}
		if len(list) > 0 {
			text = strings.Join(list, ", ")
		}
		out.fields = append(out.fields, graph.FieldText{Name: f.Name, Text: text + more})
	}
	return out
}
