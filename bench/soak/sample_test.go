package main

import (
	"maps"
	"testing"
)

func TestMetric(t *testing.T) {
	const text = "# HELP go_goroutines Number.\ngo_goroutines_max 9\ngo_goroutines 1234\n"
	if n, err := metric([]byte(text), "go_goroutines"); err != nil || n != 1234 {
		t.Errorf("%v, %v", n, err)
	}
	if _, err := metric([]byte(text), "go_gc"); err == nil {
		t.Error("a metric that is not there was read")
	}
}

func TestParsePlaces(t *testing.T) {
	const profile = `goroutine profile: total 7
4 @ 0x1 0x2
#	0x1	a.wait+0x1a	/a.go:3
#	0x2	a.main+0x2b	/a.go:9

2 @ 0x3 0x2
#	0x3	a.wait+0x3a	/a.go:4
#	0x2	a.main+0x2b	/a.go:9

1 @ 0x4
#	0x4	b.(*T).run.func1+0x2	/b.go:1
`
	want := map[string]int{"a.wait ← a.main": 6, "b.(*T).run.func1": 1}
	if got := parsePlaces(profile); !maps.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
