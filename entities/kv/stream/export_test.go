package stream

// With returns a machine that has the place of one store and the keys of another.
func With(place, keys *Identity) *Identity {
	id := place.id
	id.Epochs = keys.id.Epochs
	return newIdentity(id, "")
}
