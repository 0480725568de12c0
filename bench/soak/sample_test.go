package main

import (
	"maps"
	"testing"
)

func TestFigure(t *testing.T) {
	const profile = "heap profile: 1: 2 [3: 4] @ heap/1\n# HeapAllocs = 9\n# HeapAlloc = 1234\n"
	if n, err := figure([]byte(profile), "# HeapAlloc = "); err != nil || n != 1234 {
		t.Errorf("%v, %v", n, err)
	}
	if _, err := figure([]byte(profile), "# HeapSys = "); err == nil {
		t.Error("a figure that does not exist was read")
	}
}

func TestAtRest(t *testing.T) {
	least := sample{goroutines: 4000, heap: 80, resident: 250}
	for _, s := range []sample{{goroutines: 3990, heap: 81, resident: 251}, {goroutines: 4001, heap: 79, resident: 251}, {goroutines: 4001, heap: 81, resident: 240}} {
		if !s.wellBelow(least) {
			t.Errorf("%+v is at rest", s)
		}
	}
	if s := (sample{goroutines: 4100, heap: 79.8, resident: 249.5}); s.wellBelow(least) {
		t.Errorf("%+v is not at rest", s)
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
