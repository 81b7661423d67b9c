package nats

import (
	"crypto/ecdh"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/kv/outbox"
)

// Epoch is the time of one key.
type Epoch struct {
	From   uint64   `json:"from"` // first sequence of the stream whose message has it
	Secret [32]byte `json:"secret"`
}

// identity is what the key file of a machine holds.
type identity struct {
	Format  int     `json:"format"`
	Store   StoreID `json:"store"`
	Stream  string  `json:"stream"`
	Subject string  `json:"subject"`
	Bucket  string  `json:"bucket"`
	Objects string  `json:"objects"`
	Machine uint32  `json:"machine"`
	Name    string  `json:"name"` // of the machine, as its owner calls it
	Private []byte  `json:"private"`
	Epochs  []Epoch `json:"epochs"` // by number
	Synced  bool    `json:"synced"` // all servers write to disk before they acknowledge, as somebody has said
	Stage   Stage   `json:"stage"`
	// Created is when the servers made the stream of the log; zero: this machine has not noted it.
	Created time.Time `json:"created,omitzero"`
}

// Stage is how far a machine has come with taking part.
type Stage string

// The stages.
const (
	StageBeginning Stage = "beginning" // the log begins with the records that are here
	StageJoining   Stage = "joining"   // the state of the store has not been taken yet
	StageMember    Stage = "in"        // the store says where in the log it stands
)

const identityFormat = 1

// Identity is a machine's part in a shared store: where the store lies on the servers, the
// keys, and the machine's own number, name and key pair. It stands in one file of mode 0600.
// It may be used concurrently.
type Identity struct {
	run string // random, of this process

	mu     sync.Mutex // of all below
	id     identity
	path   string // "": it is in memory only
	ring   *KeyRing
	told   bool // this process has announced the machine
	copied bool // and another process has announced it since
}

func newIdentity(id identity, path string) *Identity {
	i := &Identity{run: randomName(), id: id, path: path}
	i.makeRing()
	return i
}

// makeRing makes the keys of all epochs.
func (i *Identity) makeRing() {
	secrets := make(map[uint32]Secret, len(i.id.Epochs))
	for n, e := range i.id.Epochs {
		secrets[uint32(n)] = e.Secret
	}
	i.ring = NewKeyRing(i.id.Store, secrets)
}

// LoadIdentity reads a key file. One that is not there is fault.NotFound; one that others can
// read is refused.
func LoadIdentity(path string) (*Identity, error) {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fault.New(fault.NotFound, "this machine has no key of a shared store").
			WithHint("begin one with ctxd sync init, or join one with ctxd sync join")
	case err != nil:
		return nil, fault.Wrap(fault.Unavailable, err, "cannot read the key of the shared store")
	case runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0:
		return nil, fault.New(fault.Unavailable, "others can read the key of the shared store").WithHint("chmod 600 %q", path)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fault.Wrap(fault.Unavailable, err, "cannot read the key of the shared store")
	}
	return ParseIdentity(data, path)
}

// ParseIdentity reads the content of a key file, which Save will write to path.
func ParseIdentity(data []byte, path string) (*Identity, error) {
	var id identity
	err := json.Unmarshal(data, &id)
	if err != nil || id.Stream == "" || id.Subject == "" || len(id.Epochs) == 0 {
		return nil, fault.New(fault.Unavailable, "the file of the key of the shared store is damaged").
			WithHint("restore it from a backup, or join again with the recovery words: ctxd sync join --again")
	}
	if id.Format != identityFormat {
		return nil, fault.New(fault.Unavailable, "the key of the shared store has format %d, this version reads %d", id.Format, identityFormat).
			WithHint("update ctxd")
	}
	if _, err := ecdh.X25519().NewPrivateKey(id.Private); err != nil {
		return nil, fault.New(fault.Unavailable, "the file of the key of the shared store is damaged")
	}
	return newIdentity(id, path), nil
}

// Save writes the key file: beside, flushed, and renamed.
func (i *Identity) Save() error {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.save()
}

func (i *Identity) save() error {
	if i.path == "" {
		return nil
	}
	data, err := json.Marshal(i.id)
	if err != nil {
		return err
	}
	err = writeFile(i.path, data)
	if err != nil {
		return fault.Wrap(fault.Unavailable, err, "cannot write the key of the shared store").WithHint("look at the permissions and the room of the data folder")
	}
	return nil
}

// writeFile replaces a file as a whole. The owner alone can read it.
func writeFile(path string, data []byte) (err error) {
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+"-*.tmp") // of mode 0600
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(f.Name()))
		}
	}()
	_, err = f.Write(data)
	if err == nil {
		err = f.Sync()
	}
	err = errors.Join(err, f.Close())
	if err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

// kept are the newest messages of the log that this machine keeps.
func (i *Identity) kept() *kept {
	i.mu.Lock()
	defer i.mu.Unlock()
	return newKept(i.path, i.id.Store)
}

// created returns when the servers made the log.
func (i *Identity) created() time.Time {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.id.Created
}

// Machine is the number of this machine, from 1.
func (i *Identity) Machine() uint32 {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.id.Machine
}

// Name is what this machine is called in the list of machines.
func (i *Identity) Name() string {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.id.Name
}

// announced notes that this process has announced the machine, and which process had announced it
// before; "": none.
func (i *Identity) announced(before string) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.copied = i.told && before != "" && before != i.run
	i.told = true
}

// Copied reports whether another process takes part as this machine: its data folder is a copy
// of the one of this machine, or the other way round.
func (i *Identity) Copied() bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.copied
}

// Words are the recovery words of the newest key: with them and the address of the servers
// another machine can join.
func (i *Identity) Words() string { return i.newest().Words() }

// Stage is how far this machine has come.
func (i *Identity) Stage() Stage {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.id.Stage
}

// SetStage keeps how far this machine has come.
func (i *Identity) SetStage(s Stage) error {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.id.Stage = s
	return i.save()
}

// Fits reports whether a secret is the newest of this machine's store.
func (i *Identity) Fits(secret Secret) bool { return i.newest() == secret }

// newest is the secret of the newest epoch.
func (i *Identity) newest() Secret {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.id.Epochs[len(i.id.Epochs)-1].Secret
}

// Start is the position of the beginning of the log of this store.
func (i *Identity) Start() outbox.Position {
	i.mu.Lock()
	defer i.mu.Unlock()
	return outbox.Position{Mark: NextMark(Mark{}, i.id.Store[:])}
}

// epochAt returns the epoch whose key the message at a sequence has.
func (i *Identity) epochAt(seq uint64) uint32 {
	i.mu.Lock()
	defer i.mu.Unlock()
	n := len(i.id.Epochs) - 1
	for n > 0 && i.id.Epochs[n].From > seq {
		n--
	}
	return uint32(n)
}

// current returns the newest epoch and the keys.
func (i *Identity) current() (uint32, *KeyRing) {
	i.mu.Lock()
	defer i.mu.Unlock()
	return uint32(len(i.id.Epochs) - 1), i.ring
}

// addEpoch keeps the secret of the epoch that follows the newest one.
func (i *Identity) addEpoch(epoch uint32, from uint64, secret Secret) error {
	i.mu.Lock()
	defer i.mu.Unlock()
	switch {
	case int(epoch) < len(i.id.Epochs): // known since an earlier reading of the log
		return nil
	case int(epoch) > len(i.id.Epochs):
		return refuseMessage(ReasonWrongKey)
	}
	i.id.Epochs = append(slices.Clone(i.id.Epochs), Epoch{from, secret})
	i.makeRing()
	return i.save()
}

// private returns the machine's own key.
func (i *Identity) private() *ecdh.PrivateKey {
	i.mu.Lock()
	defer i.mu.Unlock()
	k, err := ecdh.X25519().NewPrivateKey(i.id.Private)
	if err != nil { // ParseIdentity has made one
		panic(err)
	}
	return k
}

// names are what a store has on the servers, each with a random name.
type names struct{ stream, subject, bucket, objects string }

// names returns where the store lies on the servers.
func (i *Identity) names() names {
	i.mu.Lock()
	defer i.mu.Unlock()
	return names{i.id.Stream, i.id.Subject, i.id.Bucket, i.id.Objects}
}
