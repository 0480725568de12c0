package wire

import (
	"encoding/base64"
	"encoding/binary"
	"io"
)

// Instruction is a BPF instruction, as struct sock_filter.
type Instruction struct {
	Code uint16
	T, F uint8
	K    uint32
}

// A Filter is a BPF program that decides about system calls. Its text form is compact, because each start of a
// container waits for its parsing.
type Filter []Instruction

// MarshalText encodes the instructions as little-endian machines have them in memory, in base64.
func (f Filter) MarshalText() ([]byte, error) {
	raw, err := binary.Append(nil, binary.LittleEndian, f)
	return base64.StdEncoding.AppendEncode(nil, raw), err
}

// UnmarshalText decodes the form of MarshalText.
func (f *Filter) UnmarshalText(text []byte) error {
	raw, err := base64.StdEncoding.AppendDecode(nil, text)
	if err != nil {
		return err
	}
	if len(raw)%binary.Size(Instruction{}) != 0 {
		return io.ErrUnexpectedEOF
	}
	*f = make(Filter, len(raw)/binary.Size(Instruction{}))
	_, err = binary.Decode(raw, binary.LittleEndian, *f)
	return err
}
