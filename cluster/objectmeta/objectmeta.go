// Package objectmeta reads the name and the resource version of a Kubernetes object, or list, from an answer of the API
// server while that is being written:
//
//	r := objectmeta.NewReader(header.Get("Content-Type"))
//	r.Scan(piece) // each in its turn
//	found := r.Found()
//
// It reads JSON and protobuf, of any kind and of any size, and keeps a few bytes of them.
package objectmeta

import (
	"bytes"
	"encoding/binary"
	"mime"
	"strings"
)

const (
	// maxJSON bounds how much of an answer in JSON is looked through, in bytes. A list of custom resources has its
	// metadata behind the items.
	maxJSON = 4 << 20
	// maxProtobuf bounds how much of an answer in protobuf is kept, in bytes. Metadata come first, and of them the
	// name, at most 253 bytes, and the resource version.
	maxProtobuf = 2 << 10
	// maxWord is more than a name or a resource version has, in bytes.
	maxWord = 253
)

// Metadata is what was found; what is empty is not known.
type Metadata struct {
	Namespace       string // only of an object in JSON, and of an event of a watch
	Name            string // never of a list
	ResourceVersion string
}

// Reader reads an answer that comes in pieces. A nil Reader finds nothing.
type Reader struct {
	json     *jsonReader // one of both, or none if the form is not known
	protobuf *bytes.Buffer
}

// NewReader returns a reader of answers of a media type.
func NewReader(contentType string) *Reader {
	switch form, _, _ := mime.ParseMediaType(contentType); form { // an unreadable one has none
	case "application/json":
		return &Reader{json: &jsonReader{left: maxJSON}}
	case "application/vnd.kubernetes.protobuf":
		return &Reader{protobuf: &bytes.Buffer{}}
	}
	return nil
}

// Scan reads the next piece. Behind 4 MiB of JSON it reads nothing.
func (r *Reader) Scan(p []byte) {
	switch {
	case r == nil:
	case r.json != nil:
		r.json.read(p)
	case r.protobuf != nil:
		r.protobuf.Write(p[:min(len(p), maxProtobuf-r.protobuf.Len())])
	}
}

// Found returns what was found in all pieces.
func (r *Reader) Found() Metadata {
	switch {
	case r == nil:
		return Metadata{}
	case r.json != nil:
		return r.json.found
	}
	return protobufMetadata(r.protobuf.Bytes())
}

// jsonReader finds the members of the member "metadata" of an object. It keeps nothing else of the text, which may be
// anything: of what is no JSON it finds something or nothing.
type jsonReader struct {
	left  int  // bytes that may still come
	done  bool // there is no more to find
	depth int  // of objects and lists
	// inside is the key, at the first and the second depth, whose value is being read.
	inside [2]string
	word   []byte // the string that is being read, or was read last, at these depths
	long   bool   // it is longer than it may be, or has escapes
	quoted bool
	escape bool
	found  Metadata
}

func (j *jsonReader) read(p []byte) {
	p = p[:min(len(p), j.left)]
	j.left -= len(p)
	for i := 0; i < len(p) && !j.done; i++ {
		switch b := p[i]; {
		case j.quoted:
			j.quote(b)
		case b == '"':
			j.quoted, j.long, j.word = true, false, j.word[:0]
		default:
			j.punctuate(b)
		}
	}
}

// quote reads a byte of a string.
func (j *jsonReader) quote(b byte) {
	switch {
	case j.escape:
		j.escape = false
	case b == '\\':
		j.escape, j.long = true, true
	case b == '"':
		j.quoted = false
		j.end()
	case j.depth > len(j.inside):
	case len(j.word) < maxWord:
		j.word = append(j.word, b)
	default:
		j.long = true
	}
}

// end ends a string, which may be a value that is looked for.
func (j *jsonReader) end() {
	if j.depth != len(j.inside) || j.inside[0] != "metadata" || j.long {
		return
	}
	switch j.inside[1] {
	case "name":
		j.found.Name = string(j.word)
	case "namespace":
		j.found.Namespace = string(j.word)
	case "resourceVersion":
		j.found.ResourceVersion, j.done = string(j.word), true // the name is before it
	}
}

func (j *jsonReader) punctuate(b byte) {
	at := j.depth - 1
	known := at >= 0 && at < len(j.inside)
	switch b {
	case '{', '[':
		if j.depth++; j.depth <= len(j.inside) {
			j.inside[j.depth-1] = ""
		}
	case '}', ']':
		if j.depth--; j.depth <= 0 {
			j.done = true
		}
	case ':':
		if known && !j.long {
			j.inside[at] = string(j.word)
		}
	case ',':
		if known {
			j.inside[at] = ""
		}
	}
}

// The numbers of the fields, in k8s.io/apimachinery's pkg/runtime/generated.proto and pkg/apis/meta/v1/generated.proto.
const (
	unknownType, unknownRaw                = 1, 2
	typeKind                               = 2
	objectMetadata                         = 1 // of every kind
	metaName, metaVersion, listMetaVersion = 1, 6, 2
	metaNamespace                          = 3
	eventType, eventObject, extensionRaw   = 1, 2, 1
)

// protobufMetadata reads the metadata of the beginning of an answer.
func protobufMetadata(p []byte) (found Metadata) {
	p, ok := bytes.CutPrefix(p, []byte("k8s\x00"))
	if !ok {
		return found
	}
	kind := word(part(p, unknownType), typeKind)
	meta := part(part(p, unknownRaw), objectMetadata)
	if strings.HasSuffix(kind, "List") || kind == "Status" {
		return Metadata{ResourceVersion: word(meta, listMetaVersion)}
	}
	return Metadata{Name: word(meta, metaName), ResourceVersion: word(meta, metaVersion)}
}

// WatchEvent reads an event of a watch, of which the beginning suffices.
func WatchEvent(p []byte, protobuf bool) (kind string, of Metadata) {
	if protobuf {
		raw := part(part(p, eventObject), extensionRaw)
		of = protobufMetadata(raw)
		raw, _ = bytes.CutPrefix(raw, []byte("k8s\x00"))
		of.Namespace = word(part(part(raw, unknownRaw), objectMetadata), metaNamespace)
		return word(p, eventType), of
	}
	head, object, ok := bytes.Cut(p, []byte(`"object":`))
	_, head, typed := bytes.Cut(head, []byte(`"type":"`))
	text, _, ended := bytes.Cut(head, []byte(`"`))
	if !ok || !typed || !ended {
		return "", of
	}
	r := NewReader("application/json")
	r.Scan(object)
	return string(text), r.Found()
}

// word is a field of a message that is a text and completely there; else it is empty.
func word(message []byte, number uint64) string {
	if value, size := field(message, number); uint64(len(value)) == size && size <= maxWord {
		return string(value)
	}
	return ""
}

// part is a field of a message that is a message, as far as that is there.
func part(message []byte, number uint64) []byte {
	value, _ := field(message, number)
	return value
}

// field is the first field of a message with a number and a length, as far as it is there, and its whole size.
func field(message []byte, number uint64) (value []byte, size uint64) {
	const varint, fixed64, lengthed, fixed32 = 0, 1, 2, 5
	for len(message) > 0 {
		tag, n := binary.Uvarint(message)
		if n <= 0 {
			return nil, 0
		}
		message = message[n:]
		skip := uint64(0)
		switch tag & 7 {
		case varint, lengthed:
			x, n := binary.Uvarint(message)
			if n <= 0 {
				return nil, 0
			}
			if message = message[n:]; tag&7 == lengthed {
				skip = x
			}
		case fixed64:
			skip = 8
		case fixed32:
			skip = 4
		default: // groups are not used
			return nil, 0
		}
		there := min(skip, uint64(len(message)))
		if tag>>3 == number && tag&7 == lengthed {
			return message[:there], skip
		}
		message = message[there:]
	}
	return nil, 0
}
