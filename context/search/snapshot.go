package search

type snapshots struct {
	changed int
}

func (x *Index) restore(seq uint64)     {}
func (x *Index) save(seq func() uint64) {}
func (x *Index) close() {
	x.stopOnce.Do(func() { close(x.stop) })
	x.building.Wait()
}
