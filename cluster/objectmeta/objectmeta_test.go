package objectmeta

import (
	"encoding/binary"
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

const (
	jsonType     = "application/json;as=Table;v=v1;g=meta.k8s.io"
	protobufType = "application/vnd.kubernetes.protobuf"
)

// read reads an answer in pieces of a size.
func read(contentType string, answer []byte, size int) Metadata {
	r := NewReader(contentType)
	for len(answer) > 0 {
		n := min(size, len(answer))
		r.Scan(answer[:n])
		answer = answer[n:]
	}
	return r.Found()
}

func TestJSON(t *testing.T) {
	for text, want := range map[string]Metadata{
		`{"kind":"Pod","metadata":{"name":"a","uid":"b","resourceVersion":"7","labels":{}},"spec":{}}`:                                    {Name: "a", ResourceVersion: "7"},
		`{"kind":"PodList","metadata":{"resourceVersion":"7"},"items":[{"metadata":{"name":"a","resourceVersion":"6"}}]}`:                 {Name: "", ResourceVersion: "7"},
		`{"apiVersion":"v1","items":[{"metadata":{"name":"a","resourceVersion":"6"}}],"metadata":{"continue":"c","resourceVersion":"7"}}`: {Name: "", ResourceVersion: "7"},
		`{ "metadata" : { "name" : "a" , "resourceVersion" : "7" } }`:                                                                     {Name: "a", ResourceVersion: "7"},
		`{"metadata":{"annotations":{"resourceVersion":"6","a":"\"},\"resourceVersion\":\"6\""},"resourceVersion":"7"}}`:                  {Name: "", ResourceVersion: "7"},
		`{"metadata":{"ownerReferences":[{"name":"b","resourceVersion":"6"}],"name":"a"},"status":{"resourceVersion":"6"}}`:               {Name: "a", ResourceVersion: ""},
		`{"data":{"resourceVersion":"6"},"metadata":{"creationTimestamp":null}}`:                                                          {},
		`{"kind":"Status","metadata":{},"details":{"name":"b"}}`:                                                                          {},
		`{"metadata":{"resourceVersion":"\u0037"}}`:                                                                                       {},
		`{"metadata":{"resourceVersion":"` + strings.Repeat("7", maxWord+1) + `"}}`:                                                       {},
		`{"metadata":{"resourceVersion":7,"name":"a"}}`:                                                                                   {Name: "a", ResourceVersion: ""},
		`{"metadata":"resourceVersion"}`:                                                                                                  {}, `["metadata",{"resourceVersion":"6"}]`: {}, `}{"metadata":{"resourceVersion":"6"}}`: {}, ``: {},
	} {
		for _, size := range []int{1, 3, len(text) + 1} {
			if got := read(jsonType, []byte(text), size); got != want {
				t.Errorf("%s in pieces of %d: %+v, want %+v", text, size, got, want)
			}
		}
	}
	late := `{"items":"` + strings.Repeat("x", maxJSON) + `","metadata":{"resourceVersion":"7"}}`
	if got := read(jsonType, []byte(late), 4096); got != (Metadata{}) {
		t.Errorf("behind the bound: %+v", got)
	}
}

// message is a message of protobuf: texts by the numbers of their fields, and behind them a number.
func message(fields ...any) (text []byte) {
	for i := 0; i < len(fields); i += 2 {
		value := fmt.Append(nil, fields[i+1])
		if b, ok := fields[i+1].([]byte); ok {
			value = b
		}
		text = binary.AppendUvarint(text, uint64(fields[i].(int))<<3|2)
		text = append(binary.AppendUvarint(text, uint64(len(value))), value...)
	}
	return append(text, 7<<3, 0xac, 2) // generation: 300
}

// object is an answer in protobuf. Those of the real server are read in cluster/serve's tests.
func object(kind string, meta []byte) []byte {
	raw := message(objectMetadata, meta, 2, "data")
	return append([]byte("k8s\x00"), message(unknownType, message(1, "v1", typeKind, kind), unknownRaw, raw)...)
}

func TestProtobuf(t *testing.T) {
	long := strings.Repeat("n", 253)
	meta := message(metaName, long, 2, long, 3, "default", 5, "uid", metaVersion, "7", 11, strings.Repeat("labels", 1000))
	for _, tt := range []struct {
		text []byte
		want Metadata
	}{
		{object("ConfigMap", meta), Metadata{Name: long, ResourceVersion: "7"}},
		{object("ConfigMapList", message(listMetaVersion, "8")), Metadata{Name: "", ResourceVersion: "8"}},
		{object("Status", nil), Metadata{}},
		{[]byte("k8s\x00"), Metadata{}},
		{[]byte("k8s\x00\x0b\x0b\xff"), Metadata{}},
		{[]byte(`{"metadata":{"resourceVersion":"7"}}`), Metadata{}},
	} {
		for _, size := range []int{1, 1000, len(tt.text)} {
			if got := read(protobufType, tt.text, size); got != tt.want {
				t.Errorf("%.20q in pieces of %d: %+v, want %+v", tt.text, size, got, tt.want)
			}
		}
	}
	cut := object("ConfigMap", message(metaVersion, "1234567"))
	end := strings.Index(string(cut), "1234567") + 3
	if got := read(protobufType, cut[:end], 100); got != (Metadata{}) {
		t.Errorf("of a part of a version: %+v", got)
	}
	if got := read("text/plain", cut, 100); got != (Metadata{}) {
		t.Errorf("of a text: %+v", got)
	}
}

// FuzzMetadata: whatever comes, in whatever pieces, the same is found, and only what is there.
func FuzzMetadata(f *testing.F) {
	f.Add([]byte(`{"metadata":{"name":"a","resourceVersion":"7"}}`), 3)
	f.Add([]byte(`{"items":[{}],"metadata":{"a":[{"b":"\""}],"resourceVersion":"7"}}`), 2)
	f.Add(object("ConfigMap", message(metaName, "a", metaVersion, "7")), 5)
	f.Add(object("ConfigMapList", message(listMetaVersion, "7")), 1)
	f.Fuzz(func(t *testing.T, text []byte, size int) {
		size = max(size, 1)
		for _, form := range []string{jsonType, protobufType} {
			whole, pieces := read(form, text, len(text)+1), read(form, text, size)
			if whole != pieces {
				t.Errorf("%s: %+v at once, %+v in pieces", form, whole, pieces)
			}
			if len(whole.Name) > maxWord || len(whole.ResourceVersion) > maxWord {
				t.Errorf("%s: %+v is too long", form, whole)
			}
		}
		if found := read(jsonType, text, size); found.ResourceVersion != "" {
			for _, word := range []string{"metadata", "resourceVersion", found.ResourceVersion} {
				if !strings.Contains(string(text), `"`+word+`"`) {
					t.Errorf("%+v is found in %q, which has no %q", found, text, word)
				}
			}
		}
	})
}

// TestWatchEvent reads events of watches in both forms, also those that are cut or no events.
func TestWatchEvent(t *testing.T) {
	object := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "a", Namespace: "n", ResourceVersion: "7"}}
	raw, err := object.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	unknown := runtime.Unknown{TypeMeta: runtime.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"}, Raw: raw}
	envelope, err := unknown.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	event := metav1.WatchEvent{Type: "ADDED", Object: runtime.RawExtension{Raw: append([]byte("k8s\x00"), envelope...)}}
	protobuf, err := event.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	text := []byte(`{"type":"ADDED","object":{"kind":"ConfigMap","metadata":{"name":"a","namespace":"n","resourceVersion":"7"}}}` + "\n")
	want := Metadata{Namespace: "n", Name: "a", ResourceVersion: "7"}
	for _, c := range []struct {
		event    []byte
		protobuf bool
	}{{text, false}, {protobuf, true}} {
		if kind, of := WatchEvent(c.event, c.protobuf); kind != "ADDED" || of != want {
			t.Errorf("%q %+v", kind, of)
		}
		for n := range c.event { // ends
			WatchEvent(c.event[:n], c.protobuf)
			WatchEvent(c.event[n:], c.protobuf)
		}
	}
}
