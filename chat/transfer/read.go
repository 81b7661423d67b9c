package transfer

import (
	"bytes"
	"context"
	"errors"
	"hash/maphash"
	"io"

	"github.com/ctxd/ctxd/entities/fault"
)

const (
	maxKnownIDs  = 1 << 18 // conversation ids that are compared
	progressStep = 1 << 20 // bytes between two calls of progress
)

// ReadForeign reads the conversations of an export of size bytes and gives each to yield, in the
// order of the file. When yield returns an error, Read stops and returns that error.
// Progress may be nil. It is called after each MiB and at the end, with the bytes read of
// all bytes of conversations: those of the unpacked files of a .zip.
//
// The report is true whatever the error is. A fault.Invalid error tells that the file is of
// neither form, that it ends before its end, whose place the error says, or that a .zip is
// damaged. What was whole has been yielded then. Other damage is no error: it stands in the
// report.
func ReadForeign(ctx context.Context, r io.ReaderAt, size int64,
	yield func(ForeignConversation) error, progress func(bytesRead, total int64),
) (ReadReport, error) {
	return readForeign(ctx, r, size, yield, progress, standard)
}

func readForeign(ctx context.Context, r io.ReaderAt, size int64,
	yield func(ForeignConversation) error, progress func(bytesRead, total int64), l limits,
) (ReadReport, error) {
	x := &reader{ctx: ctx, yield: yield, limits: l, seed: maphash.MakeSeed(), ids: make(map[uint64]struct{})}
	x.progress = progress
	x.report.Problems = []ReadProblem{}
	if progress == nil {
		x.progress = func(int64, int64) {}
	}
	files := []file{{size: size, open: func() (io.ReadCloser, error) {
		return io.NopCloser(io.NewSectionReader(r, 0, size)), nil
	}}}
	if isArchive(r, size) {
		var err error
		if files, err = inArchive(r, size); err != nil {
			return x.report, err
		}
	}
	err := x.files(files)
	return x.report, err
}

// file is one file with conversations.
type file struct {
	name string // within the .zip, else ""
	size int64
	open func() (io.ReadCloser, error)
}

// reader is the state of one call of Read.
type reader struct {
	ctx      context.Context
	yield    func(ForeignConversation) error
	progress func(bytesRead, total int64)
	limits   limits
	report   ReadReport

	form         bool // a conversation of either form was seen
	read, total  int64
	toldProgress int64
	seed         maphash.Seed
	ids          map[uint64]struct{} // hashes of the ids of conversations

	file   string
	asked  string // what stands before the questions of the file, for Gemini
	number int    // of the current conversation in its file
	cut    bool   // the file ended before its end
}

// errNeither says that a file has no conversation of either form.
var errNeither = errors.New("neither form")

// files reads the files. A file that ends early doesn't keep it from the next ones.
func (x *reader) files(files []file) error {
	for _, f := range files {
		x.total += f.size
	}
	var first error
	for _, f := range files {
		err := x.open(f)
		var typed *fault.Error
		switch {
		case err == nil, errors.Is(err, errNeither):
		case errors.As(err, &typed) && typed.Kind == fault.Invalid && f.name != "":
			if first == nil {
				first = err
			}
		default:
			return err
		}
	}
	if first == nil && !x.form && x.report.Skipped > 0 {
		return neither()
	}
	x.progress(x.read, x.total)
	return first
}

func neither() error {
	return fault.New(fault.Invalid, "the file is no export of ChatGPT, Claude or Gemini, and no log of a coding agent").
		WithHint("Give the conversations.json, or the .zip with it, of a data export, MyActivity.json of Gemini, or a session of Claude Code, Codex CLI, Gemini CLI or OpenCode.")
}

func (x *reader) open(f file) error {
	in, err := f.open()
	if err != nil {
		return damagedArchive(err)
	}
	defer func() { _ = in.Close() }() // it was only read
	x.file, x.number, x.cut, x.asked = f.name, 0, false, askedIn(f.head())
	x.report.Files++
	s := newScanner(x.ctx, in, x.limits.conversation, x.moved)
	err = x.array(s)
	readAll := s.err == nil || errors.Is(s.err, io.EOF)
	switch {
	case readAll, err != nil && !x.cut:
		return err
	case x.ctx.Err() != nil:
		return x.ctx.Err()
	case f.name != "":
		return damagedArchive(s.err)
	}
	return fault.Wrap(fault.Unavailable, s.err, "the file can't be read at byte %d", s.offset())
}

// envelope is open, with what the reader knows of the file.
func (x *reader) envelope(raw []byte) envelope {
	e := open(raw)
	e.asked = x.asked
	return e
}

// maxHead is how much of a file is read to tell what it is, in bytes.
const maxHead = 64 << 10

// head returns how a file begins, nothing of one that can't be read.
func (f file) head() []byte {
	in, err := f.open()
	if err != nil {
		return nil
	}
	defer func() { _ = in.Close() }()                  // it was only read
	head, _ := io.ReadAll(io.LimitReader(in, maxHead)) // as far as it can be read
	return head
}

func (x *reader) moved(n int) {
	x.read += int64(n)
	if x.read-x.toldProgress >= progressStep {
		x.toldProgress = x.read
		x.progress(x.read, x.total)
	}
}

// cutAt returns the error for a file that ends inside the conversation that begins at an
// offset, or between two when that is its end.
func (x *reader) cutAt(start, end int64) error {
	where := fault.New(fault.Invalid,
		"the file ends at byte %d inside conversation %d, which begins at byte %d; %d were read before",
		end, x.number, start, x.report.Conversations)
	if start == end {
		where = fault.New(fault.Invalid,
			"the file ends at byte %d after conversation %d, before the end of the list; %d were read",
			end, x.number, x.report.Conversations)
	}
	x.cut = true
	return where.WithRef(x.file).WithHint("Download the export again and import it: what is here already is not imported twice.")
}

var utf8Mark = []byte("\xef\xbb\xbf")

// array reads a file: an array of conversations.
func (x *reader) array(s *scanner) error {
	for s.end < len(utf8Mark) && s.fill() {
	}
	if bytes.HasPrefix(s.buf[:s.end], utf8Mark) {
		s.pos = len(utf8Mark)
	}
	c, ok := s.space()
	if ok && c == '{' {
		return x.lines(s)
	}
	if !ok || c != '[' {
		x.report.Skipped++
		return errNeither
	}
	s.pos++
	for {
		c, ok := s.space()
		switch {
		case !ok && !x.form && x.number > 0:
			return errNeither
		case !ok:
			return x.cutAt(s.offset(), s.offset())
		case c == ']':
			s.pos++
			return x.afterTheEnd(s)
		case c == ',':
			s.pos++
			continue
		}
		x.number++
		done, err := x.element(s)
		if err != nil || done {
			return err
		}
	}
}

// lines reads a file of objects behind each other: one conversation, or the lines of a log. A line that is damaged is passed
// over; the last one may be cut, since a log may be written while it is read.
func (x *reader) lines(s *scanner) error {
	var log session
	for {
		if _, ok := s.space(); !ok {
			break
		}
		x.number++
		start := s.offset()
		switch s.value() {
		case cut:
			if log.source == "" {
				return x.cutAt(start, s.offset())
			}
			x.problem(ReasonDamaged, start, s.offset())
			return x.takeSession(&log)
		case broken:
			at := x.problem(ReasonDamaged, start, start)
			found := s.seekObject(s.offset())
			x.ended(at, s.offset())
			if !found {
				return x.takeSession(&log)
			}
			continue
		}
		raw := s.valid()
		e := x.envelope(raw)
		switch {
		case log.source == "" && (e.source() != "" || s.tooLarge || s.tooDeep):
			if err := x.take(s, e, start, s.offset()); err != nil {
				return err
			}
		case raw == nil:
			x.problem(ReasonTooLarge, start, s.offset())
		case !log.line(raw, x.limits.messages):
			x.problem(ReasonNoConversation, start, s.offset())
			if !x.form && log.source == "" && x.number >= x.limits.without {
				return errNeither
			}
		}
	}
	return x.takeSession(&log)
}

// takeSession yields the conversation of a log, if there was one.
func (x *reader) takeSession(log *session) error {
	if log.source == "" {
		if !x.form {
			x.report.Skipped++
			return errNeither
		}
		return nil
	}
	x.form = true
	return x.yielded(log.read(), 0, x.read)
}

// afterTheEnd reads what is behind the array, which should be nothing.
func (x *reader) afterTheEnd(s *scanner) error {
	if _, ok := s.space(); !ok {
		return nil
	}
	start := s.offset()
	for s.pos = s.end; s.fill(); s.pos = s.end {
	}
	x.number++
	x.problem(ReasonAfterTheEnd, start, s.offset())
	return nil
}

// element reads one element of the array. When it is damaged, reading goes on with the next
// conversation behind the damage, or is done.
func (x *reader) element(s *scanner) (done bool, err error) {
	start := s.offset()
	switch s.value() {
	case cut:
		if !x.form && x.number > 1 {
			return true, errNeither
		}
		return true, x.cutAt(start, s.offset())
	case broken:
		return x.recover(s, start, start+1)
	}
	e := x.envelope(s.valid())
	end := s.offset()
	c, ok := s.space()
	damaged := ok && c != ',' && c != ']'
	if damaged && e.source() == "" {
		return x.recover(s, start, end) // a bracket too many: what was read is a part of it
	}
	if err := x.take(s, e, start, end); err != nil {
		return true, err
	}
	if damaged {
		return x.recover(s, end, end)
	}
	return false, nil
}

// recover goes on behind damage that begins at an offset: at the first conversation that
// begins at the offset from or later.
func (x *reader) recover(s *scanner, damage, from int64) (done bool, err error) {
	at := x.problem(ReasonDamaged, damage, damage)
	for s.seekObject(max(from, s.offset()-stepBack)) {
		start := s.offset()
		from = start + 1
		switch s.value() {
		case cut:
			return true, x.lostEnd(s, at, damage)
		case broken:
			continue
		}
		e := x.envelope(s.valid())
		if e.source() == "" && !s.tooLarge && !s.tooDeep {
			continue
		}
		x.ended(at, start)
		x.number++
		end := s.offset()
		if err := x.take(s, e, start, end); err != nil {
			return true, err
		}
		if c, ok := s.space(); !ok || c == ',' || c == ']' {
			return false, nil
		}
		at, damage, from = x.problem(ReasonDamaged, end, end), end, end
	}
	return true, x.lostEnd(s, at, damage)
}

// lostEnd is called when a file ends behind damage. It was cut unless it ends as an array
// does.
func (x *reader) lostEnd(s *scanner, at int, damage int64) error {
	x.ended(at, s.offset())
	if s.lastByte() == ']' || !x.form {
		return nil
	}
	return x.cutAt(damage, s.offset())
}

// valid returns the value, nil when it is not held.
func (s *scanner) valid() []byte {
	if s.tooLarge || s.tooDeep {
		return nil
	}
	return s.held
}

// take counts a whole element and yields it if it is a conversation.
func (x *reader) take(s *scanner, e envelope, start, end int64) error {
	switch {
	case s.tooLarge:
		x.form = true // of one of them, as far as can be told
		x.problem(ReasonTooLarge, start, end)
		return nil
	case s.tooDeep:
		x.problem(ReasonTooDeep, start, end)
		return nil
	case e.source() == "":
		reason := ReasonNoConversation
		if e.named() {
			x.form, reason = true, ReasonWithoutText
		}
		x.problem(reason, start, end)
		if !x.form && x.number >= x.limits.without {
			return errNeither
		}
		return nil
	}
	x.form = true
	return x.yielded(e.read(x.limits.messages), start, end)
}

// yielded counts what was read between two offsets, and yields it unless nothing was said.
func (x *reader) yielded(p parsed, start, end int64) error {
	if p.tooMany {
		x.problem(ReasonTooMany, start, end)
		return nil
	}
	x.report.LeftOut.add(p.leftOut)
	x.report.Attachments += p.attachments
	if len(p.conversation.Messages) == 0 {
		x.report.Empty++
		return nil
	}
	x.report.Conversations++
	x.report.Messages += len(p.conversation.Messages)
	x.report.Branches += p.branches
	if p.incomplete {
		x.report.Incomplete++
	}
	if x.known(p.conversation) {
		x.report.Repeated++
	}
	if err := x.ctx.Err(); err != nil {
		return err
	}
	return x.yield(p.conversation)
}

// known reports whether a conversation of that source and id came before.
func (x *reader) known(c ForeignConversation) bool {
	id := maphash.String(x.seed, c.Source+"/"+c.ID)
	if _, ok := x.ids[id]; ok {
		return true
	}
	if len(x.ids) < maxKnownIDs {
		x.ids[id] = struct{}{}
	}
	return false
}

// problem counts a part that was not read and returns its place in the report, -1 when it
// isn't listed.
func (x *reader) problem(reason ProblemReason, start, end int64) int {
	x.report.Skipped++
	if len(x.report.Problems) == maxProblems {
		return -1
	}
	x.report.Problems = append(x.report.Problems, ReadProblem{
		File: x.file, Number: x.number, Offset: start, End: end, Reason: reason,
	})
	return len(x.report.Problems) - 1
}

// ended sets the end of a problem.
func (x *reader) ended(at int, end int64) {
	if at >= 0 {
		x.report.Problems[at].End = end
	}
}
