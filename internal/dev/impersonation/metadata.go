package impersonation

import (
	"bytes"
	"mime"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"
)

const (
	// maxJSON bounds how much of an answer in JSON is looked through, in bytes. A list of custom resources has its
	// metadata behind the items.
	maxJSON = 4 << 20
	// maxProtobuf bounds how much of an answer in protobuf is kept, in bytes. Metadata come first.
	maxProtobuf = 2 << 10
	// maxWord is the size of the longest name; resource versions are shorter.
	maxWord = 253
)

// reader finds the name and the resource version in an answer that comes in pieces. A nil reader finds nothing.
type reader struct {
	inJSON   *jsonText // nil: it is protobuf
	protobuf []byte    // its beginning
}

// newReader returns a reader of answers of a media type, or nil.
func newReader(contentType string) *reader {
	switch form, _, _ := mime.ParseMediaType(contentType); form { // an unreadable one has none
	case "application/json":
		return &reader{inJSON: &jsonText{left: maxJSON}}
	case "application/vnd.kubernetes.protobuf":
		return &reader{}
	}
	return nil
}

func (r *reader) scan(piece []byte) {
	switch {
	case r == nil:
	case r.inJSON != nil:
		r.inJSON.scan(piece)
	default:
		r.protobuf = append(r.protobuf, piece[:min(len(piece), maxProtobuf-len(r.protobuf))]...)
	}
}

// found is what all pieces together say. A list has no name.
func (r *reader) found() (name, version string) {
	switch {
	case r == nil:
		return "", ""
	case r.inJSON != nil:
		return r.inJSON.name, r.inJSON.version
	}
	return protobufMetadata(r.protobuf)
}

// jsonText finds the strings metadata.name and metadata.resourceVersion, and keeps nothing else. It does not check the
// text: of what is no JSON it finds something or nothing.
type jsonText struct {
	left  int // bytes that may still come
	depth int
	// member are the keys whose values are being read: of the outermost object, and of the object in it.
	member                 [2]string
	quoted, escaped, plain bool   // plain: word has all of the string
	word                   []byte // the last string at these depths
	name, version          string
}

func (t *jsonText) scan(piece []byte) {
	for _, b := range piece {
		if t.left <= 0 {
			return
		}
		t.left--
		switch {
		case t.quoted:
			t.character(b)
		case b == '"':
			t.quoted, t.plain, t.word = true, true, t.word[:0]
		default:
			t.structure(b)
		}
	}
}

// character takes a byte of a string.
func (t *jsonText) character(b byte) {
	switch {
	case t.escaped:
		t.escaped = false
	case b == '\\':
		t.escaped, t.plain = true, false
	case b == '"':
		t.quoted = false
		t.endString()
	case t.depth > len(t.member):
	case len(t.word) == maxWord:
		t.plain = false
	default:
		t.word = append(t.word, b)
	}
}

func (t *jsonText) endString() {
	if t.depth != len(t.member) || !t.plain {
		return
	}
	switch t.member {
	case [2]string{"metadata", "name"}:
		t.name = string(t.word)
	case [2]string{"metadata", "resourceVersion"}:
		t.version = string(t.word)
	}
}

// structure takes a byte outside of strings.
func (t *jsonText) structure(b byte) {
	set := func(key string) {
		if t.depth > 0 && t.depth <= len(t.member) {
			t.member[t.depth-1] = key
		}
	}
	switch b {
	case '{', '[':
		t.depth++
		set("")
	case '}', ']':
		if t.depth--; t.depth <= 0 {
			t.left = 0
		}
	case ',':
		set("")
	case ':':
		if t.plain {
			set(string(t.word))
		}
	}
}

// protobufMagic begins every answer in protobuf; a message runtime.Unknown follows
// (https://kubernetes.io/docs/reference/using-api/api-concepts/#protobuf-encoding).
var protobufMagic = []byte("k8s\x00")

// The numbers of fields, of k8s.io/apimachinery's pkg/runtime/generated.proto and pkg/apis/meta/v1/generated.proto.
const (
	unknownType, unknownRaw   = 1, 2
	typeKind                  = 2
	anyMetadata               = 1 // of every kind
	objectName, objectVersion = 1, 6
	listVersion               = 2
)

// protobufMetadata is the name and the resource version at the beginning of an answer.
func protobufMetadata(p []byte) (name, version string) {
	p, ok := bytes.CutPrefix(p, protobufMagic)
	if !ok {
		return "", ""
	}
	meta, _ := field(p, unknownRaw)
	meta, _ = field(meta, anyMetadata)
	kind, _ := field(p, unknownType)
	switch kind := text(kind, typeKind); {
	case strings.HasSuffix(kind, "List"), kind == "Status":
		return "", text(meta, listVersion)
	}
	return text(meta, objectName), text(meta, objectVersion)
}

// text is a field that is a string; it is empty if not all of it is there.
func text(message []byte, number protowire.Number) string {
	if value, whole := field(message, number); whole && len(value) <= maxWord {
		return string(value)
	}
	return ""
}

// field is the first field of a number that has a length, as far as the message has it.
func field(message []byte, number protowire.Number) (value []byte, whole bool) {
	for len(message) > 0 {
		found, kind, n := protowire.ConsumeTag(message)
		if n < 0 {
			return nil, false
		}
		message = message[n:]
		if found == number && kind == protowire.BytesType {
			size, n := protowire.ConsumeVarint(message)
			if n < 0 {
				return nil, false
			}
			message = message[n:]
			return message[:min(size, uint64(len(message)))], size <= uint64(len(message))
		}
		if n = protowire.ConsumeFieldValue(found, kind, message); n < 0 {
			return nil, false
		}
		message = message[n:]
	}
	return nil, false
}
