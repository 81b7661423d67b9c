package convert

import (
	"bytes"
	"context"
	"encoding/xml"
	"net/url"
	"path"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/ctxd/ctxd/entities/fault"
)

// Bounds of an EPUB.
const (
	maxPackage = 8 << 20  // bytes of the list of its parts
	maxChapter = 64 << 20 // bytes of one page
)

// convertEPUB adds the pages of an EPUB in the order of its spine.
func convertEPUB(b *Builder, data []byte) error {
	a, err := openArchive(data)
	if err != nil {
		return err
	}
	p, err := packageOf(b.Context(), a)
	if err != nil {
		return err
	}
	b.SetTitle(p.title)
	b.SetAuthor(p.author)
	if err := p.encrypted(b.Context(), a); err != nil {
		return err
	}
	page := 0
	defer func() {
		b.SetPages(len(p.pages.labels))
		b.SetLabels(p.pages.labels)
	}()
	for _, id := range p.spine {
		item, ok := p.items[id]
		if !ok || item.nav || !strings.Contains(item.kind, "html") {
			continue
		}
		data, err := a.Read(item.name, maxChapter)
		if err != nil {
			return err
		}
		text, err := decodeText(data, "application/xhtml+xml")
		if err != nil {
			return err
		}
		if n := p.pages.at[item.name]; n > 0 {
			page = n
		}
		if label := p.labels[item.name]; label != "" && !strings.Contains(text, "<h") {
			if err := b.Add(Block{Kind: HeadingBlock, Level: 1, Text: label, Page: page}); err != nil {
				return err
			}
		}
		r := reader{b: b, pages: p.pages, file: item.name, page: page, at: page}
		if err := r.read(text); err != nil {
			return err
		}
		page = r.page
	}
	return nil
}

// item is a part of an EPUB.
type item struct {
	name, kind string
	nav        bool
}

// opf is what the package document of an EPUB says.
type opf struct {
	title, author string
	items         map[string]item // by id
	spine         []string        // ids
	labels        map[string]string
	pages         *printedPages
}

func notEPUB() error {
	return fault.New(fault.Invalid, "the file is no EPUB: its list of parts is missing").WithHint("give an EPUB, docx or xlsx")
}

// packageOf reads the package document.
func packageOf(ctx context.Context, a *zipArchive) (*opf, error) {
	name := ""
	err := walk(ctx, a, "META-INF/container.xml", func(e xml.StartElement) {
		if e.Name.Local == "rootfile" && name == "" {
			name = xmlAttr(e, "full-path")
		}
	}, nil)
	if err != nil {
		return nil, err
	}
	if name == "" || !a.Has(name) {
		return nil, notEPUB()
	}
	p := &opf{items: make(map[string]item), labels: make(map[string]string), pages: &printedPages{at: make(map[string]int)}}
	dir, toc := path.Dir(name), ""
	err = walk(ctx, a, name, func(e xml.StartElement) {
		switch e.Name.Local {
		case "item":
			it := item{name: resolve(dir, xmlAttr(e, "href")), kind: xmlAttr(e, "media-type")}
			it.nav = strings.Contains(xmlAttr(e, "properties"), "nav")
			p.items[xmlAttr(e, "id")] = it
			if strings.Contains(it.kind, "dtbncx") {
				toc = it.name
			}
		case "itemref":
			p.spine = append(p.spine, xmlAttr(e, "idref"))
		}
	}, func(element, text string) {
		switch element {
		case "title":
			if p.title == "" {
				p.title = text
			}
		case "creator":
			if p.author == "" {
				p.author = text
			}
		}
	})
	for _, it := range p.items {
		if err == nil && it.nav {
			err = p.pageList(a, it.name)
		}
	}
	if err != nil || toc == "" {
		return p, err
	}
	label, listed, inPage := "", p.pages.listed, false
	err = walk(ctx, a, toc, func(e xml.StartElement) {
		switch e.Name.Local {
		case "navPoint", "pageTarget":
			inPage, label = e.Name.Local == "pageTarget", ""
		case "content":
			src := xmlAttr(e, "src")
			target := resolve(path.Dir(toc), src)
			switch {
			case inPage && !listed:
				p.pages.add(place(target, src), label)
			case !inPage && p.labels[target] == "":
				p.labels[target] = label
			}
		}
	}, func(element, text string) {
		if element == "text" {
			label = text
		}
	})
	return p, err
}

// place is a place in a part, as a link to it says.
func place(target, href string) string {
	if _, id, _ := strings.Cut(href, "#"); id != "" {
		return target + "#" + id
	}
	return target
}

// pageList reads the list of printed pages of the navigation, which is HTML.
func (p *opf) pageList(a *zipArchive, name string) error {
	data, err := a.Read(name, maxPackage)
	if err != nil {
		return err
	}
	z := html.NewTokenizer(bytes.NewReader(data))
	z.SetMaxBuf(maxPackage)
	within, href, label := false, "", ""
	for {
		switch z.Next() {
		case html.ErrorToken:
			return nil // a list that is broken is none
		case html.StartTagToken:
			switch t := z.Token(); t.DataAtom {
			case atom.Nav:
				within = strings.Contains(attr(t, "epub:type"), "page-list") || attr(t, "role") == "doc-pagelist"
			case atom.A:
				href, label = attr(t, "href"), ""
			}
		case html.TextToken:
			if within && len(label) < maxMark*maxLabelChars {
				label += string(z.Text())
			}
		case html.EndTagToken:
			switch tag, _ := z.TagName(); atom.Lookup(tag) {
			case atom.Nav:
				within = false
			case atom.A:
				if within && href != "" {
					p.pages.add(place(resolve(path.Dir(name), href), href), label)
				}
			}
		}
	}
}

// walk reads a part of XML; text is told with the element that it stands in.
func walk(ctx context.Context, a *zipArchive, name string, start func(xml.StartElement), text func(element, text string)) error {
	data, err := a.Read(name, maxPackage)
	if data == nil || err != nil {
		return err
	}
	in := ""
	return walkXML(ctx, bytes.NewReader(data), func(e xml.StartElement) error {
		in = e.Name.Local
		start(e)
		return nil
	}, func(string) error { in = ""; return nil }, func(s string) error {
		if text != nil && strings.TrimSpace(s) != "" {
			text(in, s)
		}
		return nil
	})
}

func resolve(dir, href string) string {
	href, _, _ = strings.Cut(href, "#")
	if plain, err := url.PathUnescape(href); err == nil {
		href = plain
	}
	return strings.TrimPrefix(path.Join("/", dir, href), "/")
}

// encrypted is an error when a page of the spine is encrypted. Fonts may be.
func (p *opf) encrypted(ctx context.Context, a *zipArchive) error {
	hidden := make(map[string]bool)
	err := walk(ctx, a, "META-INF/encryption.xml", func(e xml.StartElement) {
		if e.Name.Local == "CipherReference" {
			hidden[resolve("", xmlAttr(e, "URI"))] = true
		}
	}, nil)
	if err != nil {
		return err
	}
	for _, id := range p.spine {
		if hidden[p.items[id].name] {
			return encryptedError()
		}
	}
	return nil
}
