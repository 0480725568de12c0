package baseline

import (
	"encoding/gob"
	"fmt"
	"io"
)

// encoded is a baseline as it is written.
type encoded struct {
	Prefix string
	Values map[string][]byte
}

// Version grows when the baseline changes.
func (b *Baseline) Version() int { return b.version }

// Encode writes the baseline for [Decode].
func (b *Baseline) Encode(w io.Writer) error {
	if err := gob.NewEncoder(w).Encode(encoded{b.prefix, b.values}); err != nil {
		return fmt.Errorf("write the baseline: %w", err)
	}
	return nil
}

// Decode reads what [Baseline.Encode] wrote.
func Decode(r io.Reader) (*Baseline, error) {
	var e encoded
	if err := gob.NewDecoder(r).Decode(&e); err != nil {
		return nil, fmt.Errorf("read the baseline: %w", err)
	}
	if e.Values == nil {
		e.Values = map[string][]byte{}
	}
	return &Baseline{prefix: e.Prefix, values: e.Values}, nil
}
