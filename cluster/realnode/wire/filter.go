package wire

import (
	"encoding/base64"
	"encoding/binary"
	"io"
)

// Instruction is one of a filter of system calls.
type Instruction struct {
	Code uint16
	T, F uint8
	K    uint32
}

// A Filter decides about system calls. Its text is short: every container's start waits until that is read.
type Filter []Instruction

// MarshalText encodes the instructions as the kernel has them, on machines that begin with a number's last byte.
func (f Filter) MarshalText() ([]byte, error) {
	raw, err := binary.Append(nil, binary.LittleEndian, f)
	return base64.StdEncoding.AppendEncode(nil, raw), err
}

// UnmarshalText is the reverse.
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
