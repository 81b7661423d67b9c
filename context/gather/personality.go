package gather

import "github.com/ctxd/ctxd/context/prompt"

// personality returns the personality with which the prompt begins; nil for none. It is the person's own text, and yet what
// it says of private records is not for a remote reader.
func (c *call) personality() *prompt.Personality {
	if c.g.opts.Personality == nil || c.Personality != nil && !*c.Personality {
		return nil
	}
	p := c.g.opts.Personality()
	if p == nil || !c.remote {
		return p
	}
	shown := *p
	shown.Name, shown.Role = c.view.TextOf("", p.Name), c.view.TextOf("", p.Role)
	shown.Background, shown.Instructions = c.view.TextOf("", p.Background), c.view.TextOf("", p.Instructions)
	shown.Expertise, shown.Traits = c.masked(p.Expertise), c.masked(p.Traits)
	return &shown
}

func (c *call) masked(list []string) []string {
	out := make([]string, len(list))
	for i, s := range list {
		out[i] = c.view.TextOf("", s)
	}
	return out
}
