package main

import (
	"errors"
	"testing"
)

func TestSameFiles(t *testing.T) {
	for name, c := range map[string]struct {
		ours, peer map[string]string
		same       bool
	}{
		"alike":            {map[string]string{"a": "1", "go.sum": "x"}, map[string]string{"a": "1"}, true},
		"another content":  {map[string]string{"a": "1"}, map[string]string{"a": "2"}, false},
		"one that we lack": {map[string]string{"a": "1"}, map[string]string{"a": "1", "b": ""}, false},
		"one that we add":  {map[string]string{"a": "1", "b": ""}, map[string]string{"a": "1"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			ours, peer := t.TempDir(), t.TempDir()
			if err := errors.Join(writeFiles(ours, c.ours), writeFiles(peer, c.peer)); err != nil {
				t.Fatal(err)
			}
			if err := sameFiles(ours, peer); (err == nil) != c.same || err != nil && !errors.Is(err, errDiffers) {
				t.Errorf("got %v", err)
			}
		})
	}
}
