package rollback

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/slipway-dev/slipway/cluster/atomicfile"
	"github.com/slipway-dev/slipway/cluster/baseline"
	"github.com/slipway-dev/slipway/cluster/etcd"
)

// marker is the key that a store has while it is between two states. Its value says which file has the baseline.
const marker = "/slipway/rollback"

// ErrUnfinished says that the end of a process interrupted a rollback, and that it cannot be finished.
var ErrUnfinished = errors.New("a reset was interrupted, and the state to restore is lost")

// Journal remembers that a store is on its way to a baseline, and to which. The baseline is in a file, which is
// written when it has changed; the marker is in the store itself, so that a copy of the one is no marker in another.
type Journal struct {
	store Store
	file  string

	begun   bool // the store has the marker
	written *baseline.Baseline
	version int // of what was written
	sum     []byte
}

// NewJournal returns the journal of a durable store, with a file for it alone.
func NewJournal(store Store, file string) *Journal { return &Journal{store: store, file: file} }

// begin is called before a round changes anything. It does nothing when the journal says already what it is to say.
func (j *Journal) begin(ctx context.Context, base *baseline.Baseline) error {
	if j == nil {
		return nil
	}
	same := j.written == base && j.version == base.Version()
	if same && j.begun {
		return nil
	}
	if !same {
		if err := j.write(ctx, base); err != nil {
			return fmt.Errorf("write %s: %w", j.file, err)
		}
	}
	return j.mark(ctx, j.sum)
}

// mark has the store say which file leads back: one that has any of the sums.
func (j *Journal) mark(ctx context.Context, sums ...[]byte) error {
	j.begun = true // also if that fails: then it may have happened
	_, err := j.store.Apply(context.WithoutCancel(ctx), nil, []etcd.Pair{{Key: []byte(marker), Value: bytes.Join(sums, nil)}})
	return err
}

// write replaces the file. A store that names the one that is there names both before, since the process may end
// between.
func (j *Journal) write(ctx context.Context, base *baseline.Baseline) error {
	var b bytes.Buffer
	if err := base.Encode(&b); err != nil {
		return err
	}
	sum := sha256.Sum256(b.Bytes())
	if j.begun {
		if err := j.mark(ctx, j.sum, sum[:]); err != nil {
			return err
		}
	}
	if err := atomicfile.Write(j.file, b.Bytes(), true); err != nil {
		return err
	}
	j.written, j.version, j.sum = base, base.Version(), sum[:]
	return nil
}

// end is called when the store is at rest again.
func (j *Journal) end(ctx context.Context) error {
	if j == nil || !j.begun {
		return nil
	}
	if _, err := j.store.Apply(context.WithoutCancel(ctx), [][]byte{[]byte(marker)}, nil); err != nil {
		return err
	}
	j.begun = false
	return nil
}

// Resume finishes a rollback that the end of a process interrupted; resumed is false if there was none. It is
// called before any other code uses the store.
func (j *Journal) Resume(ctx context.Context, prefix string) (resumed bool, err error) {
	snapshot, err := j.store.Read(ctx, marker)
	if err != nil || len(snapshot.Pairs) == 0 {
		return false, err
	}
	base, err := j.read(slices.Collect(slices.Chunk(snapshot.Pairs[0].Value, sha256.Size)))
	if err != nil {
		return false, fmt.Errorf("%w: %s: %w", ErrUnfinished, j.file, err)
	}
	j.begun, j.written, j.version = true, base, base.Version()
	way := Way{Store: j.store, Prefix: prefix, Journal: j}
	if _, err := way.rounds(ctx, base); err != nil {
		return false, err // the next start goes on
	}
	err = j.end(ctx)
	return err == nil, err
}

var errOther = errors.New("it is not the file that the store names")

// read reads the file, which has one of the sums.
func (j *Journal) read(sums [][]byte) (*baseline.Baseline, error) {
	text, err := os.ReadFile(filepath.Clean(j.file))
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		return nil, p.Err
	}
	is := sha256.Sum256(text)
	if !slices.ContainsFunc(sums, func(sum []byte) bool { return bytes.Equal(is[:], sum) }) {
		return nil, errOther
	}
	j.sum = is[:]
	return baseline.Decode(bytes.NewReader(text))
}
