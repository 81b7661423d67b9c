package llm

import (
	"slices"
	"strings"

	"github.com/ctxd/ctxd/entities/fault"
)

// SetOptions say which providers there are.
type SetOptions struct {
	Default   string    // the name of one of Providers; "" or none for nobody
	Providers []Options // in the order in which they are shown
	Budget    Budget
	Time      Timing
}

// Set is the providers that are configured, under one ledger. It does not change; all methods may be
// called concurrently.
type Set struct {
	names    []string // of counted, in the order of the options
	counted  map[string]Provider
	standard string // name of the one that answers unless another one is named
	ledger   *Ledger
}

// NewSet opens providers. It reaches for none of them, and for no key. The errors are those of Open.
func NewSet(o SetOptions) (*Set, error) {
	s := &Set{
		counted: map[string]Provider{string(None): Nobody()}, standard: o.Default,
		ledger: NewLedger(o.Budget, o.Time.Now),
	}
	if s.standard == "" {
		s.standard = string(None)
	}
	for _, one := range o.Providers {
		one.Time = o.Time
		p, err := Open(one)
		if err != nil {
			return nil, fault.Under("chat.providers."+one.Name, err)
		}
		s.names = append(s.names, one.Name)
		s.counted[one.Name] = &counted{Provider: newBreaker(p, o.Time), name: one.Name, ledger: s.ledger}
	}
	if s.counted[s.standard] == nil {
		return nil, s.unknown("chat.provider")
	}
	return s, nil
}

// NoSet returns a set without providers: nobody answers.
func NoSet() *Set {
	s, _ := NewSet(SetOptions{Budget: DefaultBudget}) // nothing in it can be wrong
	return s
}

// Provider returns the provider of a name, "" for the one that answers unless another one is named. What
// it is asked is counted, and refused over the budget. The error is that the settings have no
// provider of the name, which it does not show: it may be a key.
func (s *Set) Provider(name string) (Provider, error) {
	if name == "" {
		name = s.standard
	}
	if p := s.counted[name]; p != nil {
		return p, nil
	}
	return nil, s.unknown("provider")
}

func (s *Set) unknown(field string) error {
	return fault.Field(field, "the settings have no provider of this name").
		WithHint("give %s, or make one by setting chat.providers.NAME.base", strings.Join(slices.Concat([]string{string(None)}, s.names), ", "))
}

// Default is the name of the provider that answers unless another one is named: none for nobody.
func (s *Set) Default() string { return s.standard }

// Names are those of the providers that are configured, in their order.
func (s *Set) Names() []string { return append([]string{}, s.names...) }

// Providers are those that are configured, in their order; [Nobody] is none of them.
func (s *Set) Providers() []Provider {
	list := make([]Provider, len(s.names))
	for i, name := range s.names {
		list[i] = s.counted[name]
	}
	return list
}

// Ledger counts what all of them are asked.
func (s *Set) Ledger() *Ledger { return s.ledger }

// Close ends the connections that are idle.
func (s *Set) Close() {
	for _, p := range s.counted {
		p.Close()
	}
}
