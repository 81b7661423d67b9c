package llm

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/ctxd/ctxd/context/outbound"
)

// What is taken of a server that is asked for its models.
const (
	probeTimeout = 5 * time.Second
	maxProbe     = 4 << 20
	maxOffered   = 1000
	maxModelName = 256
)

var errProbe = errors.New("no list of models")

// Offer is what a server says when it is asked which models it has.
type Offer struct {
	Reached bool     // it answered, whatever it said
	Models  []string // the first maxOffered, in its order
	Total   int      // how many it has
}

// Probe asks the server of a provider which models it has: once, and for 5 s at most. That costs nothing
// and is not counted. The errors are those of Provider, of ctx, and why there is no list, as
// fault.Unavailable or fault.Deadline.
func (s *Set) Probe(ctx context.Context, name string) (Offer, error) {
	p, err := s.Provider(name)
	if err != nil {
		return Offer{}, err
	}
	if r := remoteOf(p); r != nil {
		return r.offer(ctx)
	}
	return Offer{}, nil
}

// Look looks for the key of a provider, and says without asking it why it can't be asked now: a key is
// missing, or would be sent for everybody to read, or the budget of the day is used up. A keyring may take
// 5 s. It is nil for nobody, who answers always. The errors are those of Provider and fault.Unavailable,
// or fault.Limit for the budget.
func (s *Set) Look(name string) (keyPresent bool, err error) {
	p, err := s.Provider(name)
	if err != nil {
		return false, err
	}
	r := remoteOf(p)
	if r == nil {
		return false, nil
	}
	keyPresent, err = r.look()
	if err == nil {
		err = s.ledger.UsedUp()
	}
	return keyPresent, err
}

// Ready says why the provider that answers by itself can't, as Look does, but at once, and that its circuit breaker is open: what is wrong with a
// key in a keyring is known from the last time that it was wanted.
func (s *Set) Ready() error {
	r := remoteOf(s.counted[s.standard])
	if r == nil {
		return nil
	}
	if err := r.ready(); err != nil {
		return err
	}
	if p, ok := s.counted[s.standard].(*counted).Provider.(*breaker); ok {
		if err := p.why(); err != nil {
			return err
		}
	}
	return s.ledger.UsedUp()
}

// remoteOf is the provider under a ledger, nil for one that asks nobody.
func remoteOf(p Provider) *remote {
	if c, ok := p.(*counted); ok {
		p = c.Provider
	}
	if c, ok := p.(*breaker); ok {
		p = c.Provider
	}
	r, _ := p.(*remote)
	return r
}

func (p *remote) offer(ctx context.Context) (Offer, error) {
	var o Offer
	key, err := p.key()
	if err != nil {
		return o, err
	}
	if err := p.checked("any", key); err != nil {
		return o, err
	}
	work, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer p.time.AfterFunc(probeTimeout, func() { cancel(errProbe) })()
	req, err := p.at.Beside(paths[p.o.Kind], "models").NewLookup(work)
	if err != nil {
		return o, err
	}
	p.protocol.authorize(req.Header, key)
	res, err := p.client.Do(req)
	if err != nil {
		return o, p.failed(ctx, work, p.unprobed(work, err))
	}
	defer func() { _ = res.Body.Close() }() // what was read is all that counts
	o.Reached = true
	switch {
	case res.StatusCode == http.StatusNotFound || res.StatusCode == http.StatusMethodNotAllowed:
		return o, p.about(outbound.NewRefusal("has no list of models").
			WithHint("correct %s.base, unless its server has none", p.words.Setting))
	case res.StatusCode != http.StatusOK:
		return o, p.about(p.complaint(res, p.o.Model))
	}
	reply, err := outbound.ReadBody(res.Body, maxProbe)
	if err == nil {
		err = o.read(reply, key, p.words.Setting)
	}
	return o, p.failed(ctx, work, p.unprobed(work, err))
}

// unprobed is why there is no list: a *outbound.Refusal, or the error of ctx.
func (p *remote) unprobed(ctx context.Context, err error) error {
	var r *outbound.Refusal
	switch {
	case err == nil || errors.As(err, &r):
		return err
	case errors.Is(context.Cause(ctx), errProbe):
		return late(true, "gave no list of models within %s", probeTimeout).
			WithHint("look whether its server is busy, or correct %s.base", p.words.Setting)
	}
	return p.unreached(ctx, err)
}

// read takes the names of models out of a list. One that is no name is passed over, as is one that
// has the key in it.
func (o *Offer) read(reply []byte, key, setting string) error {
	var list struct {
		Data []struct {
			ID string `json:"id"`
		} `json:"data"`
	}
	if err := json.Unmarshal(reply, &list); err != nil || list.Data == nil {
		return outbound.NewRefusal("sent no list of models").WithHint("look whether %s.base leads to a server of language models", setting)
	}
	for _, m := range list.Data {
		if !namesModel(m.ID) || key != "" && strings.Contains(m.ID, key) {
			continue
		}
		o.Total++
		if len(o.Models) < maxOffered {
			o.Models = append(o.Models, m.ID)
		}
	}
	return nil
}

func namesModel(id string) bool {
	return id != "" && len(id) <= maxModelName && utf8.ValidString(id) &&
		!strings.ContainsFunc(id, func(r rune) bool { return !unicode.IsPrint(r) })
}
