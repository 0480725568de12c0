package delta

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"

	"github.com/klauspost/compress/s2"
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/slipway-dev/slipway/cluster/history/conceal"
)

const (
	// MaxBody bounds a body, in bytes.
	MaxBody = 48 << 10
	// maxRaw bounds what a body is made of, and what it may unfold to.
	maxRaw = 4 << 20
)

var (
	// ErrSize says that a change is too large to be kept.
	ErrSize = errors.New("too large to be kept")
	// ErrVersions says that an object was stored in another version, or another form, than before.
	ErrVersions = errors.New("stored in another version than before")
)

// Mask hides in a value what must not be kept: in bytes of any form, which keep their length, and in JSON, which stays
// JSON.
type Mask interface {
	Bytes([]byte) []byte
	JSON([]byte) []byte
}

// The fields of a body.
const (
	bodyEnvelope, bodyCreated, bodyName, bodyBefore, bodyAfter = 1, 2, 3, 4, 5
)

// Between returns what differs. A before of nil stands for an object that was not there. It returns nothing if nothing
// differs, [ErrSize] if that is too much, and [ErrVersions].
func Between(before, after *Object, mask Mask) ([]byte, error) {
	b := protowire.AppendBytes(protowire.AppendTag(nil, bodyEnvelope, protowire.BytesType), after.envelope)
	old := &Object{}
	if before == nil {
		b = protowire.AppendVarint(protowire.AppendTag(b, bodyCreated, protowire.VarintType), 1)
	} else if old = before; !bytes.Equal(before.envelope, after.envelope) {
		return nil, ErrVersions
	}
	hide := mask.Bytes
	if after.JSON() {
		hide = mask.JSON
	}
	differs := false
	pairs(old.parts, after.parts, func(name string, before, after []byte) {
		if bytes.Equal(before, after) {
			return
		}
		differs = true
		b = protowire.AppendString(protowire.AppendTag(b, bodyName, protowire.BytesType), name)
		b = appendPart(b, bodyBefore, before, hide)
		b = appendPart(b, bodyAfter, after, hide)
	})
	if !differs {
		return nil, nil
	}
	if len(b) > maxRaw {
		return nil, ErrSize
	}
	if b = s2.Encode(nil, b); len(b) > MaxBody {
		return nil, ErrSize
	}
	return b, nil
}

func appendPart(b []byte, number protowire.Number, value []byte, hide func([]byte) []byte) []byte {
	if value == nil {
		return b
	}
	return protowire.AppendBytes(protowire.AppendTag(b, number, protowire.BytesType), hide(value))
}

// pairs calls each for the parts of both, by name.
func pairs(before, after []part, each func(name string, before, after []byte)) {
	for len(before) > 0 || len(after) > 0 {
		switch {
		case len(after) == 0 || len(before) > 0 && before[0].name < after[0].name:
			each(before[0].name, before[0].value, nil)
			before = before[1:]
		case len(before) == 0 || after[0].name < before[0].name:
			each(after[0].name, nil, after[0].value)
			after = after[1:]
		default:
			each(before[0].name, before[0].value, after[0].value)
			before, after = before[1:], after[1:]
		}
	}
}

// contents is what a body holds.
type contents struct {
	envelope      []byte
	created       bool
	before, after []part
}

func unfold(body []byte) (c contents, err error) {
	if n, err := s2.DecodedLen(body); err != nil || n > maxRaw {
		return c, errors.Join(ErrForm, err)
	}
	raw, err := s2.Decode(nil, body)
	if err != nil {
		return c, fmt.Errorf("%w: %w", ErrForm, err)
	}
	name := ""
	err = fields(raw, func(number protowire.Number, value, _ []byte) {
		switch number {
		case bodyEnvelope:
			c.envelope = value
		case bodyCreated:
			c.created = true
		case bodyName:
			name = string(value)
		case bodyBefore:
			c.before = append(c.before, part{name, value})
		case bodyAfter:
			c.after = append(c.after, part{name, value})
		}
	})
	return c, err
}

// masked is what protobuf has in place of a value, whose length says something of it.
var masked = regexp.MustCompile(`\*{8,}`)

// decode makes values of parts.
func (c contents) decode(parts []part, toJSON func([]byte) ([]byte, error)) (map[string]any, error) {
	var text []byte
	if len(c.envelope) > 0 {
		var raw []byte
		for _, p := range parts {
			raw = append(raw, p.value...)
		}
		message := protowire.AppendBytes(protowire.AppendTag(bytes.Clone(protobufMagic), unknownType, protowire.BytesType), c.envelope)
		message = protowire.AppendBytes(protowire.AppendTag(message, unknownRaw, protowire.BytesType), raw)
		var err error
		if text, err = toJSON(message); err != nil {
			return nil, fmt.Errorf("%w: %w", ErrForm, err)
		}
		text = masked.ReplaceAll(text, []byte(conceal.Hidden))
	} else {
		object := map[string]json.RawMessage{}
		for _, p := range parts {
			object[p.name] = p.value
		}
		var err error
		if text, err = json.Marshal(object); err != nil {
			return nil, fmt.Errorf("%w: %w", ErrForm, err)
		}
	}
	var value map[string]any
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&value); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrForm, err)
	}
	return value, nil
}
