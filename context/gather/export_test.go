package gather

// Rendered counts the blocks that were rendered.
func (g *Gatherer) Rendered() int64 { return g.blocks.rendered.Load() }
