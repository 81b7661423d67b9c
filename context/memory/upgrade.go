package memory

import "github.com/ctxd/ctxd/entities/kv"

// formerStatements say who says what, up to format 10 of the store.
var formerStatements = kv.NewCollection[struct{}]("memory-said", kv.Codec[struct{}]{
	Encode: func(*struct{}) (string, error) { return "", nil },
	Decode: func(string) (*struct{}, error) { return new(struct{}), nil },
})

// Upgrade takes out of a store of format 10 or older what has since been a view of the memories: who has which
// number, and who says what. The numbers of deleted memories stay.
func Upgrade(tx *kv.Tx) error {
	for key := range formerStatements.All(tx, "") {
		if err := formerStatements.Delete(tx, key); err != nil {
			return err
		}
	}
	for key, by := range numbers.All(tx, "") {
		there, err := false, error(nil)
		if by.ID != "" {
			there, err = Records.Has(tx, by.ID)
		}
		switch {
		case err != nil:
		case there:
			err = numbers.Delete(tx, key)
		case by.ID != "": // lost to damage
			err = numbers.Put(tx, key, &usedNumber{})
		}
		if err != nil {
			return err
		}
	}
	return tx.Err()
}
