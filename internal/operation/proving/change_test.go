package proving

import (
	"fmt"
	"testing"
)

// TestCandidates: a number is changed by one, above what the definition allows at least.
func TestCandidates(t *testing.T) {
	schema := map[string]any{"properties": map[string]any{
		"size": map[string]any{"type": "integer", "minimum": int64(6)}, "shards": map[string]any{"type": "integer"},
		"mode": map[string]any{"enum": []any{"a", "b"}}, "on": map[string]any{"type": "boolean"}, "name": map[string]any{"type": "string"},
	}}
	var all []candidate
	collect(&all, nil, map[string]any{"size": int64(3), "shards": int64(3), "mode": "a", "on": true, "name": "x"}, schema)
	if got, want := fmt.Sprint(all), "[{[mode] b 1} {[on] false 2} {[shards] 4 0} {[shards] 2 0} {[size] 7 0} {[size] 2 0}]"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
