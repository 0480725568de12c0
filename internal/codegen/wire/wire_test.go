package wire_test

import (
	"encoding/json"
	"testing"

	"github.com/slipway-dev/slipway/internal/codegen/wire"
)

// TestForm: the form of requests and answers changes with [wire.Protocol] only, since the program may be of another
// version.
func TestForm(t *testing.T) {
	if wire.Protocol != 1 {
		t.Fatal("another protocol: write down its form here")
	}
	for _, test := range []struct {
		value any
		want  string
	}{
		{
			wire.Request{Protocol: 1, Dir: "/d", Runs: []wire.Run{{Generator: wire.Listers, Arguments: []string{"-x"}, Packages: []string{"a/b"}}}},
			`{"protocol":1,"dir":"/d","runs":[{"generator":"lister-gen","arguments":["-x"],"packages":["a/b"]}]}`,
		},
		{
			wire.Run{Generator: wire.ApplyConfigurations, Name: "x", Tags: []wire.Tag{{Package: "a", Text: "+b"}, {Package: "a", Type: "T", Text: "+c"}}, Externals: map[string]string{"d": "e"}, Schema: json.RawMessage(`{"f":1}`)},
			`{"generator":"applyconfiguration-gen","name":"x","arguments":null,"packages":null,"tags":[{"package":"a","text":"+b"},{"package":"a","type":"T","text":"+c"}],"externals":{"d":"e"},"schema":{"f":1}}`,
		},
		{wire.Answer{Protocol: 1, Files: []wire.File{{Path: "/a", Content: []byte("b")}}}, `{"protocol":1,"files":[{"path":"/a","content":"Yg=="}]}`},
		{wire.Answer{Protocol: 1, Problem: "c"}, `{"protocol":1,"files":null,"problem":"c"}`},
	} {
		got, err := json.Marshal(test.value)
		if err != nil || string(got) != test.want {
			t.Errorf("got %s, %v, want %s", got, err, test.want)
		}
	}
}
