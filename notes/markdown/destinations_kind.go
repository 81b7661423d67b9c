package markdown

// destinations_*.go read the destination of a Markdown link, what stands between the
// parentheses of [text](Plans/Alpha%20one.md#Goals) or behind [label]:. They say whether
// that is a file of the vault, what it is called without its escapes, and which names it
// may mean to a reader of references. Nothing here depends on where a destination stands: the
// scanners find it in a text. It takes time linear in the length of what it is given.

import "strings"

// DestKind is what a destination is to a vault.
type DestKind uint8

// Kinds of destinations.
const (
	DestElsewhere DestKind = iota // no file of a vault: an address, a path of the computer
	DestPossible                  // a path that may be meant in another way: a link where a file lies there, else text
	DestFile                      // the path of a file of the vault, be it there or not, or a part of the note itself
)

// DestKindOf returns the kind of a destination as it is written.
//
// A path is that of a file where its ending says so. People also write as destinations
// what is none: addresses without a scheme, words that stand for an address, files of a
// project that is not in the vault. Nobody can tell them from a path without looking.
func DestKindOf(dest string) DestKind {
	p, part, _ := strings.Cut(dest, "#")
	if p == "" && part != "" && strings.IndexByte(part, '\n') < 0 {
		return DestFile // the note itself
	}
	if strings.IndexByte(dest, '\n') >= 0 || isElsewhere(p) {
		return DestElsewhere
	}
	ending := endingOf(p)
	if noteEndings[ending] {
		return DestFile
	}
	if namesNothing(p) || strings.ContainsAny(p, `%&\`) && namesNothing(strings.TrimSpace(UnescapeDest(p))) {
		return DestElsewhere
	}
	if fileEndings[ending] && p[0] != '/' && !beginsWithHost(p) && !strings.Contains(p, "{{") {
		return DestFile
	}
	if p[0] == '[' { // brackets that are not closed, or are no link
		return DestElsewhere
	}
	return DestPossible
}

// IsNotePath reports whether a path ends like a Markdown file.
func IsNotePath(p string) bool { return noteEndings[endingOf(p)] }

// isElsewhere reports what can be no path in a vault.
func isElsewhere(p string) bool {
	for _, start := range [...]string{"//", `\\`, "~/", "((", "www."} { // (( as Logseq refers to a block
		if strings.HasPrefix(p, start) {
			return true
		}
	}
	scheme, rest, ok := strings.Cut(p, ":")
	switch {
	case !ok:
		return p == ""
	case len(scheme) == 1: // a drive
		return strings.HasPrefix(rest, "/") || strings.HasPrefix(rest, `\`)
	}
	return scheme != "" && !strings.ContainsAny(scheme, "/.% ")
}

// namesNothing reports a path without a file name, or one that leads through what is
// hidden, which no vault has.
func namesNothing(p string) bool {
	for part := range strings.SplitSeq(p, "/") {
		if len(part) > 1 && part[0] == '.' && part != ".." {
			return true
		}
	}
	name := p[strings.LastIndexByte(p, '/')+1:]
	return name == "" || name == "." || name == ".."
}

// beginsWithHost reports a path that reads like an address without its scheme:
// example.org/logo.png. It may be one of a folder with such a name.
func beginsWithHost(p string) bool {
	host, _, ok := strings.Cut(p, "/")
	host, _, _ = strings.Cut(host, ":")
	dot := strings.LastIndexByte(host, '.')
	if !ok || dot < 1 || len(host)-dot < len(".xy") {
		return false
	}
	for i := range len(host) {
		switch c := host[i]; {
		case 'a' <= c|0x20 && c|0x20 <= 'z':
		case i > dot || c != '.' && c != '-' && (c < '0' || c > '9'):
			return false
		}
	}
	return true
}

// longestEnding is how long an ending may be that is looked up.
const longestEnding = len(".excalidraw")

// endingOf returns the ending of the last name of a path in lower case, without its dot;
// "" where there is none, or one that is in no list.
func endingOf(p string) string {
	tail := p[max(0, len(p)-longestEnding):]
	dot := strings.LastIndexByte(tail, '.')
	if dot < 0 || dot == 0 && len(tail) == len(p) {
		return ""
	}
	return strings.ToLower(tail[dot+1:])
}

const pictureEndings = "apng avif bmp gif heic heif ico jpeg jpg png svg tif tiff webp"

var (
	noteEndings = setOf("md markdown")
	pictures    = setOf(pictureEndings)

	// fileEndings are those of files that people keep in vaults: pictures, sound, films,
	// documents, tables, archives, and what note apps draw. Endings of programs and of pages
	// of the web are not among them, nor are those that are better known as domains.
	fileEndings = setOf(pictureEndings + `
		aac aiff flac m4a mid midi mp3 oga ogg opus wav wma
		3gp avi m4v mkv mov mp4 mpeg mpg ogv webm wmv
		bib csv djvu doc docx eml epub ics key mobi numbers odp ods odt pages pdf ppt pptx rtf tex tsv txt vcf xls xlsm xlsx
		7z bz2 gz rar tar tgz xz zip
		base canvas drawio excalidraw graphml psd sketch tldr vsd vsdx xmind xopp`)
)

// IsPicturePath reports whether a path is that of a picture, by its ending.
func IsPicturePath(path string) bool { return pictures[endingOf(path)] }

func setOf(words string) map[string]bool {
	set := make(map[string]bool)
	for _, w := range strings.Fields(words) {
		set[w] = true
	}
	return set
}
