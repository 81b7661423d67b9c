package rpc_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/ctxd/ctxd/rpc/protocol"
	"github.com/ctxd/ctxd/rpc/socket"
)

var ownProcess = os.Getpid()

// canaries are the words of private records. No remote connection may get one, but for
// the names that public records have as well.
var (
	canaries = regexp.MustCompile(`(?i)zqcanary\w*|990099\.75`)
	alsoOpen = regexp.MustCompile(`(?i)zqcanary(double|twain)`)
)

// canaryIn returns the first canary in a text, nil when there is none.
func canaryIn(text []byte) []byte {
	for _, found := range canaries.FindAll(text, -1) {
		if !alsoOpen.Match(found) {
			return found
		}
	}
	return nil
}

// owed is the answer that a request must get.
type owed struct {
	id       string // as it was sent; null for what is no request
	method   *discoveredMethod
	codes    []int  // the only ones, of what calls no method; else those of the method
	sent     string // the request, for the message about a fault
	remote   bool   // who reads the answer must not see what is private
	early    bool   // sent when the connection was not initialized for certain
	succeeds bool   // it has to
	token    string // of its progress; "" for none
	batch    *owedBatch
}

// asked are the requests of one id, and what came for it. Several may have the same id:
// then there has to be a way in which every answer is one to a request of its own.
type asked struct {
	owes    []*owed
	must    int     // of owes: those that must be answered
	fits    [][]int // of each answer: the owes that it can be one to
	matched []int   // of each of owes: its answer, -1 for none
}

// match finds requests for all answers, the last one included.
func (q *asked) match() bool {
	for len(q.matched) < len(q.owes) {
		q.matched = append(q.matched, -1)
	}
	seen := make([]bool, len(q.owes))
	var try func(answer int) bool
	try = func(answer int) bool {
		for _, o := range q.fits[answer] {
			if seen[o] {
				continue
			}
			seen[o] = true
			if q.matched[o] < 0 || try(q.matched[o]) {
				q.matched[o] = answer
				return true
			}
		}
		return false
	}
	return try(len(q.fits) - 1)
}

// owedBatch is the list that a batch must be answered with.
type owedBatch struct{ number, size int }

// assailant is a connection of an attack, and what it is owed.
type assailant struct {
	a      *attack
	number int
	nc     *net.UnixConn
	lines  bool // framed by lines

	initialized bool // it was answered so
	remote      bool
	gone        bool // closed by us
	serial      int
	sent        []string // ids

	mu         sync.Mutex // guards what follows
	changed    sync.Cond
	ending     bool              // it was told to end: what comes now may not be answered
	introduced bool              // it called initialize somehow
	asked      map[string]*asked // by id
	open       int               // answers that must still come
	withdrawn  map[string]bool   // ids, as values
	topics     bool              // it may have subscribed
	progress   map[string]string // the last kind by token
	settled    map[string]bool   // tokens of calls that were answered
	mayEnd     string            // why the daemon may close the connection now
	over       bool              // nothing more comes
	late       bool
}

// connect opens a connection of one of several kinds; the first is local, by lines.
func (a *attack) connect(number, kind int) *assailant {
	nc, err := socket.Dial(context.Background(), a.path)
	if err != nil {
		a.fault("a connection is refused: %v", err)
		return nil
	}
	p := &assailant{
		a: a, number: number, nc: nc.(*net.UnixConn), lines: kind%2 == 0, remote: kind/2%2 == 1,
		asked: map[string]*asked{}, withdrawn: map[string]bool{}, progress: map[string]string{}, settled: map[string]bool{},
	}
	p.changed.L = &p.mu
	_ = nc.SetDeadline(time.Now().Add(patience))
	a.readers.Go(p.read)
	if kind < 7 {
		who := map[bool]string{true: "remote", false: "local"}[p.remote]
		p.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":"hello","method":"initialize","params":{"clientInfo":{"name":"fuzz"},"audience":%q}}`, who),
			0, &owed{id: `"hello"`, method: a.doc.methods["initialize"], succeeds: true})
		p.initialized = p.await()
	}
	return p
}

// frame returns a message in the framing of the connection.
func (p *assailant) frame(text string, how int) string {
	if p.lines {
		return text + []string{"\n", "\r\n", "\n \n\t"}[how%3]
	}
	return fmt.Sprintf([]string{
		"Content-Length: %d\r\n\r\n", "content-length:%d\n\n", "Content-Type: application/vscode-jsonrpc; charset=utf-8\r\nCONTENT-LENGTH: %d\r\nX-A: b\r\n\r\n",
	}[how%3], len(text)) + text
}

// send writes a message and notes what it must be answered with.
func (p *assailant) send(text string, how int, answers ...*owed) {
	p.owe(answers...)
	frame := p.frame(text, how)
	if how >= 6 { // in two pieces
		p.write(frame[:len(frame)/2])
		frame = frame[len(frame)/2:]
	}
	p.write(frame)
}

func (p *assailant) owe(answers ...*owed) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, o := range answers {
		o.remote = o.remote || p.remote && p.initialized
		o.early = !p.initialized
		q := p.asked[o.id]
		if q == nil {
			q = new(asked)
			p.asked[o.id] = q
		}
		q.owes = append(q.owes, o)
		if !p.ending && p.mayEnd == "" {
			q.must++
			p.open++
		}
	}
}

func (p *assailant) write(text string) {
	if p.gone {
		return
	}
	if len(p.a.transcript) < 400 {
		p.a.transcript = append(p.a.transcript, fmt.Sprintf("%d> %.600q", p.number, text))
	}
	if _, err := p.nc.Write([]byte(text)); err != nil {
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.mayEnd == "" && !p.ending {
			p.a.fault("connection %d takes nothing more: %v", p.number, err)
		}
		p.ending = true
	}
}

// end notes that the connection was told to end: what was sent before is answered, what
// comes after need not be.
func (p *assailant) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ending = true
}

// spent reports whether nothing can be asked any more.
func (p *assailant) spent() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.gone || p.ending || p.over
}

// await waits until everything is answered, and reports whether the connection lives.
func (p *assailant) await() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	timer := time.AfterFunc(patience, func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.late = true
		p.changed.Broadcast()
	})
	defer timer.Stop()
	for p.open > 0 && !p.over && !p.late {
		p.changed.Wait()
	}
	if p.open > 0 && p.mayEnd == "" && !p.gone {
		for _, id := range slices.Sorted(maps.Keys(p.asked)) {
			if q := p.asked[id]; len(q.fits) < q.must {
				for i, o := range q.owes {
					p.a.fault("connection %d (over %v): %d answers to %d requests: %.300s (answered: %v)",
						p.number, p.over, len(q.fits), q.must, o.sent, i < len(q.matched) && q.matched[i] >= 0)
				}
			}
		}
		p.open = 0
	}
	return !p.over
}

// close ends the connection without waiting.
func (p *assailant) close() {
	p.gone = true
	p.mu.Lock()
	p.mayEnd = "we closed it"
	p.mu.Unlock()
	_ = p.nc.Close()
}

// read takes what the daemon sends until the connection is over.
func (p *assailant) read() {
	in := bufio.NewReaderSize(p.nc, 64<<10)
	var err error
	for err == nil {
		var msg []byte
		if msg, err = p.next(in); err == nil {
			p.take(msg)
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.over = true
	if p.mayEnd == "" && !p.ending {
		p.a.fault("connection %d was closed (%v)", p.number, err)
	}
	p.changed.Broadcast()
}

// next reads a message in the framing of the connection.
func (p *assailant) next(in *bufio.Reader) ([]byte, error) {
	head, err := in.ReadString('\n')
	if err != nil || p.lines {
		return []byte(strings.TrimSuffix(head, "\n")), err
	}
	n, err := strconv.Atoi(strings.TrimSpace(strings.TrimPrefix(head, "Content-Length: ")))
	if blank, _ := in.ReadString('\n'); err != nil || blank != "\r\n" {
		p.a.fault("connection %d: a header %q", p.number, head)
		return nil, io.ErrUnexpectedEOF
	}
	msg := make([]byte, n)
	_, err = io.ReadFull(in, msg)
	return msg, err
}

// take looks at a message of the daemon.
func (p *assailant) take(msg []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	defer p.changed.Broadcast()
	if !utf8.Valid(msg) || !json.Valid(msg) {
		p.a.fault("connection %d: no JSON: %.300q", p.number, msg)
		return
	}
	if p.remote && p.initialized {
		p.unseen(msg)
	}
	if msg[0] != '[' {
		p.one(msg, nil)
		return
	}
	var list []json.RawMessage
	_ = json.Unmarshal(msg, &list)
	of := p.batchOf(list)
	for _, part := range list {
		p.one(part, of)
	}
	if of.size != len(list) {
		p.a.fault("connection %d: a batch of %d is answered with %d: %.300s", p.number, of.size, len(list), msg)
	}
}

// batchOf returns the batch that a list answers. At least one of its requests has an id
// of its own.
func (p *assailant) batchOf(list []json.RawMessage) *owedBatch {
	for _, part := range list {
		var r reply
		_ = json.Unmarshal(part, &r)
		if q := p.asked[string(r.ID)]; q != nil && strings.HasPrefix(string(r.ID), `"batch `) {
			return q.owes[0].batch
		}
	}
	return &owedBatch{}
}

// one takes an answer or a notification. of is the batch that the answer is a part of.
func (p *assailant) one(msg []byte, of *owedBatch) {
	var r reply
	dec := json.NewDecoder(bytes.NewReader(msg))
	dec.DisallowUnknownFields()
	var whole struct {
		Version string `json:"jsonrpc"`
		*reply
	}
	whole.reply = &r
	if err := dec.Decode(&whole); err != nil || whole.Version != "2.0" {
		p.a.fault("connection %d: %v: %.300s", p.number, err, msg)
		return
	}
	if r.Method != "" {
		if of != nil || r.ID != nil || r.Result != nil || r.Error != nil {
			p.a.fault("connection %d: %.300s", p.number, msg)
		}
		p.notified(&r)
		return
	}
	q := p.asked[string(r.ID)]
	if q == nil {
		p.a.fault("connection %d: nobody asked for it: %.600s", p.number, msg)
		return
	}
	var edges []int
	var why []error
	for i, o := range q.owes {
		if of != o.batch {
			continue
		}
		if err := p.fits(o, &r, len(q.owes) == 1); err == nil {
			edges = append(edges, i)
		} else {
			why = append(why, err)
		}
	}
	q.fits = append(q.fits, edges)
	if !q.match() {
		p.a.fault("connection %d: answer %d of %d requests: %v: %.600s", p.number, len(q.fits), len(q.owes), errors.Join(why...), msg)
	}
	if len(q.fits) <= q.must {
		p.open--
	}
}

// fits reports why an answer is none to a request, which is alone with its id or not.
func (p *assailant) fits(o *owed, r *reply, alone bool) error {
	switch {
	case r.Error != nil && r.Result != nil:
		return fmt.Errorf("a result and an error")
	case r.Error == nil && r.Result == nil:
		return fmt.Errorf("neither a result nor an error")
	}
	if o.remote && alone {
		p.unseen(r.Result)
	} else if alone && o.method != nil && o.method.Name == "context.assemble" && strings.Contains(string(r.Result), `"audience":"remote"`) {
		var prompt struct{ System string }
		_ = json.Unmarshal(r.Result, &prompt)
		p.unseen([]byte(prompt.System))
	}
	if o.token != "" && alone {
		withdrawn := r.Error != nil && r.Error.Code == protocol.CodeCancelled
		if kind := p.progress[o.token]; kind != "" && kind != protocol.ProgressEnd && !withdrawn {
			return fmt.Errorf("the last progress of %s is %s", o.token, kind)
		}
		p.settled[o.token] = true
	}
	if r.Error != nil {
		return p.fitsError(o, r.Error, alone)
	}
	if o.codes != nil {
		return fmt.Errorf("a result for %.300s", o.sent)
	}
	m := o.method
	if p.remote && p.initialized && (m.WholeStore || m.Daemon) {
		return fmt.Errorf("%s serves a remote connection", m.Name)
	}
	if o.early && !m.Early && !p.introduced {
		return fmt.Errorf("%s serves a connection that was not initialized", m.Name)
	}
	var v any
	if err := json.Unmarshal(r.Result, &v); err != nil {
		return err
	}
	if err := m.result.Validate(v); err != nil {
		return fmt.Errorf("the result of %s does not fit its schema: %w (asked %.300s)", m.Name, err, o.sent)
	}
	p.a.succeeded(m.Name)
	p.a.gen.learn(v)
	return nil
}

// fitsError reports why an error is none that a request may be answered with.
func (p *assailant) fitsError(o *owed, e *protocol.Error, alone bool) error {
	told := fmt.Sprintf("%d %s (asked %.300s)", e.Code, e.Message, o.sent)
	at := slices.IndexFunc(protocol.Codes, func(c protocol.Code) bool { return c.Code == e.Code })
	switch {
	case e.Code == protocol.CodeInternal:
		return fmt.Errorf("an internal error: %s", told)
	case o.succeeds:
		return fmt.Errorf("it has to succeed: %s", told)
	case o.codes != nil && !slices.Contains(o.codes, e.Code) || o.codes == nil && !o.method.codes[e.Code]:
		return fmt.Errorf("an error that the contract does not list: %s", told)
	case at < 0 || e.Data == nil || e.Data.Kind != protocol.Codes[at].Kind:
		return fmt.Errorf("the kind is not that of the code: %s %+v", told, e.Data)
	case e.Message == "" || strings.ContainsAny(e.Message, "\x00\x1b"):
		return fmt.Errorf("the message is no sentence: %s", told)
	case e.Code == protocol.CodeNotInitialized && !o.early:
		return fmt.Errorf("the connection was initialized: %s", told)
	case e.Code == protocol.CodeCancelled && !p.withdrawn[idValue(o.id)]:
		return fmt.Errorf("nobody withdrew it: %s", told)
	case e.Code == protocol.CodeInvalidParams && e.Data.Field == "":
		return fmt.Errorf("no field is named: %s", told)
	case e.Code == protocol.CodeQuery && (e.Data.Line < 1 || e.Data.Column < 1):
		return fmt.Errorf("no place in the query: %s %+v", told, e.Data)
	case e.Code == protocol.CodeUnavailable && e.Data.Hint == "", e.Code == protocol.CodeLimit && e.Data.Hint == "" && e.Data.Field == "":
		return fmt.Errorf("nothing says what to do: %s %+v", told, e.Data)
	}
	text, _ := json.Marshal(e)
	var v any
	_ = json.Unmarshal(text, &v)
	if err := p.a.doc.errorData.Validate(v.(map[string]any)["data"]); err != nil {
		return fmt.Errorf("the data does not fit its schema: %w: %s", err, told)
	}
	for _, dir := range []string{p.a.gen.dir, p.a.gen.vaults} {
		if strings.Contains(string(text), dir) && !strings.Contains(o.sent, dir) {
			return fmt.Errorf("a path in an error: %s", text)
		}
	}
	if o.remote && alone {
		p.unseen(text)
	}
	return nil
}

// unseen checks that a text for a remote reader tells nothing private, by its cursors
// neither.
func (p *assailant) unseen(text []byte) {
	found := canaryIn(text)
	for _, cursor := range cursorsIn.FindAllSubmatch(text, -1) {
		plain, _ := base64.RawURLEncoding.DecodeString(string(cursor[1]))
		if found == nil {
			found = canaryIn(plain)
		}
	}
	if found != nil {
		i := max(0, bytes.Index(text, found))
		p.a.fault("connection %d is told of %s: …%s…", p.number, found, text[max(0, i-200):min(len(text), i+100)])
	}
}

var cursorsIn = regexp.MustCompile(`"nextCursor":"([^"]*)"`)

// notified takes a notification.
func (p *assailant) notified(r *reply) {
	for _, n := range p.a.doc.Notify {
		if n.Name != r.Method || n.From != "daemon" {
			continue
		}
		var v any
		if err := json.Unmarshal(r.Params, &v); err != nil {
			p.a.fault("%s: %v", r.Method, err)
		} else if err := n.schema.Validate(v); err != nil {
			p.a.fault("%s %.300s does not fit its schema: %v", r.Method, r.Params, err)
		}
		if n.Topic && !p.topics {
			p.a.fault("connection %d has not subscribed to anything, and is told %s", p.number, r.Method)
		}
		if r.Method == protocol.NotifyProgress {
			p.progressed(r.Params)
		}
		return
	}
	p.a.fault("connection %d: there is no notification %s", p.number, r.Method)
}

// progressed checks the order of the progress of a call.
func (p *assailant) progressed(params []byte) {
	var got struct {
		Token json.RawMessage
		Value protocol.Progress
	}
	_ = json.Unmarshal(params, &got)
	token := string(got.Token)
	before := p.progress[token]
	begins := got.Value.Kind == protocol.ProgressBegin
	if begins == (before != "") || before == protocol.ProgressEnd || p.settled[token] {
		p.a.fault("connection %d: progress %s comes after %q (answered %v)", p.number, params, before, p.settled[token])
	}
	p.progress[token] = got.Value.Kind
}

// idValue returns what an id is as a value: texts may be written in several ways.
func idValue(id string) string {
	v := scalar(id)
	if text, ok := v.unquoted(); ok {
		return "text " + text
	}
	return id
}
