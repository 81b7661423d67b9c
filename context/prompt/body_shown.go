package prompt

import "strings"

// RenderNote returns what is shown of a note whose frontmatter was taken off: its Markdown
// as it stands, without HTML comments and %%comments%%, and without blank lines at both
// ends. A line that held nothing but a comment goes. In code there are no comments, and
// one that is not closed is text: half a note must not vanish by a slip. A %% at the
// beginning of a line may be closed anywhere, another one in its paragraph. Line ends
// are "\n".
func RenderNote(markdown string) string {
	src := withoutReturns(markdown)
	if strings.Contains(src, "<!--") || strings.Contains(src, "%%") {
		f := finder{src: src}
		src = without(src, f.comments())
	}
	return strings.TrimRight(withoutBlank(src), " \t")
}

func withoutReturns(s string) string {
	if strings.IndexByte(s, '\r') < 0 {
		return s
	}
	return strings.ReplaceAll(strings.ReplaceAll(s, "\r\n", "\n"), "\r", "\n")
}

// span is a part of a text: byte offsets, half open.
type span struct{ start, end int }

// without takes comments out of a text, in their order: with the line when it held
// nothing else, and with the blanks that stood behind, or before, so that none are
// doubled.
func without(src string, comments []span) string {
	w := taker{src: src, out: make([]byte, 0, len(src)), bare: true}
	for _, c := range comments {
		w.copyTo(c.start)
		w.at = c.end
		w.closeGap()
	}
	w.copyTo(len(src))
	return string(w.out)
}

// taker copies a text but for some parts.
type taker struct {
	src   string
	at    int // up to where it is copied or left out
	out   []byte
	start int  // in out, of the last line
	bare  bool // that line holds nothing but blanks
}

func (w *taker) copyTo(end int) {
	part := w.src[w.at:end]
	w.at = end
	if k := strings.LastIndexByte(part, '\n'); k >= 0 {
		w.start, w.bare = len(w.out)+k+1, allBlank(part[k+1:])
	} else {
		w.bare = w.bare && allBlank(part)
	}
	w.out = append(w.out, part...)
}

// closeGap leaves out the blanks, and the line, that nothing stands in any more.
func (w *taker) closeGap() {
	end := w.at
	for end < len(w.src) && isBlank(w.src[end]) {
		end++
	}
	atEnd := end == len(w.src) || w.src[end] == '\n'
	switch n := len(w.out); {
	case atEnd && w.bare:
		w.out = w.out[:w.start]
		w.at = min(end+1, len(w.src))
		if n := len(w.out); n == 0 || n > 1 && w.out[n-2] == '\n' { // between blank lines
			if e, next := bodyLineEnd(w.src, w.at); allBlank(w.src[w.at:e]) {
				w.at = next
			}
		}
	case atEnd:
		for isBlank(w.out[n-1]) {
			n--
		}
		w.out, w.at = w.out[:n], end
	case w.bare || isBlank(w.out[n-1]):
		w.at = end
	}
}

// finder finds the comments of a text without frontmatter.
type finder struct {
	src   string
	lines lines
	found []span
	ticks map[int]int // of the paragraph: from a run of backticks to the next one as long

	noHTML, noPercent bool // no further comment of the kind has an end
}

func (f *finder) comments() []span {
	for pos := 0; pos < len(f.src); {
		end, next := bodyLineEnd(f.src, pos)
		l := f.lines.next(f.src[pos:end])
		if l.kind != textLine && l.kind != heading {
			pos = next
			continue
		}
		start := pos
		for l.kind == textLine && next < len(f.src) {
			before := f.lines
			e, n := bodyLineEnd(f.src, next)
			if !f.lines.next(f.src[next:e]).goes {
				f.lines = before
				break
			}
			end, next = e, n
		}
		pos = next
		if stop := f.paragraph(start, end); stop > end {
			pos, f.lines.para = stop, false
		}
	}
	return f.found
}

// paragraph finds the comments that begin in a paragraph, and returns where it stopped:
// beyond its end if the last one reaches further.
func (f *finder) paragraph(start, end int) int {
	f.ticks = nil
	first := true // nothing but marks of quotes stood on the line
	for i := start; i < end; {
		size := 1
		switch c := f.src[i]; {
		case c == '\n':
			first = true
			i++
			continue
		case isBlank(c) || c == '>' && first:
			i++
			continue
		case c == '\\' && i+1 < end && f.src[i+1] != '\n':
			size = 2
		case c == '`':
			size = f.codeSpan(i, end)
		case strings.HasPrefix(f.src[i:], "<!--"):
			size = max(1, f.html(i))
			if size > 1 {
				f.found = append(f.found, span{i, i + size})
			}
		case strings.HasPrefix(f.src[i:end], "%%"):
			size = f.percent(i, end, first)
			if size > 2 {
				f.found = append(f.found, span{i, i + size})
			}
		}
		first = false
		i += size
		if i > end {
			return i
		}
	}
	return end
}

// html returns the length of the HTML comment at i, 0 when it has no end.
func (f *finder) html(i int) int {
	if f.noHTML {
		return 0
	}
	k := strings.Index(f.src[i+2:], "-->") // <!--> and <!---> are whole comments
	if k < 0 {
		f.noHTML = true
		return 0
	}
	return 2 + k + 3
}

// percent returns the length of the comment at i between two %%, 2 when it has no end.
func (f *finder) percent(i, end int, first bool) int {
	if first {
		end = len(f.src)
		if f.noPercent {
			return 2
		}
	}
	k := strings.Index(f.src[i+2:end], "%%")
	if k < 0 {
		f.noPercent = f.noPercent || first
		return 2
	}
	return 2 + k + 2
}

// codeSpan returns the length of the code span at i, or of its backticks when they open
// none.
func (f *finder) codeSpan(i, end int) int {
	if f.ticks == nil {
		f.ticks = make(map[int]int)
		last := make(map[int]int) // by length
		for k := i; k < end; {
			at := strings.IndexByte(f.src[k:end], '`')
			if at < 0 {
				break
			}
			k += at
			n := run(f.src[:end], k)
			if before, ok := last[n]; ok {
				f.ticks[before] = k
			}
			last[n] = k
			k += n
		}
	}
	n := run(f.src[:end], i)
	if closing, ok := f.ticks[i]; ok {
		return closing + n - i
	}
	return n
}

// bodyLineEnd returns where the line at pos ends, and where the next one begins.
func bodyLineEnd(s string, pos int) (end, next int) {
	k := strings.IndexByte(s[pos:], '\n')
	if k < 0 {
		return len(s), len(s)
	}
	return pos + k, pos + k + 1
}
