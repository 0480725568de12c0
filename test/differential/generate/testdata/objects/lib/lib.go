// Package lib has types of every kind that copying code may meet in another
// package: with and without methods, right and wrong ones.
package lib

import "time"

const Size = 3

type Str string

type Plain struct {
	A string
	B int
}

type Deep struct {
	M map[string]string
	P *Plain
}

type Hidden struct {
	secret []string
	when   time.Time
}

type (
	Strings    []string
	Table      map[Str]Plain
	Nested     map[string][]*Deep
	PlainPtr   *Plain
	StringsPtr *Strings
	Pair       [2]int
	Call       func(string) error
	Pipe       chan Plain
)

type Shape interface{ Area() int }

type CopyShape interface {
	Area() int
	DeepCopy() CopyShape
}

type IntoShape interface {
	DeepCopyInto(*IntoShape)
}

type Alias = Deep

type AliasStrings = []string

type AliasPtr = *Deep

type AliasOfNamed = Strings

type Gen[T any] struct{ V T }

type GenSlice[T any] []T

type GenCopy[T any] struct{ V []T }

func (in *GenCopy[T]) DeepCopy() *GenCopy[T] { return in }

// Both is as generated code leaves a struct.
type Both struct{ M map[string]string }

func (in *Both) DeepCopyInto(out *Both) { *out = *in }
func (in *Both) DeepCopy() *Both        { return in }

type OnlyCopy struct{ M map[string]string }

func (in *OnlyCopy) DeepCopy() *OnlyCopy { return in }

type OnlyInto struct{ M map[string]string }

func (in *OnlyInto) DeepCopyInto(out *OnlyInto) { *out = *in }

type ByValue struct{ M map[string]string }

func (in ByValue) DeepCopy() ByValue { return in }

type IntoByValue struct{ M map[string]string }

func (in IntoByValue) DeepCopyInto(out *IntoByValue) { *out = in }

type CopyStrings []string

func (in CopyStrings) DeepCopy() CopyStrings { return in }

func (in CopyStrings) DeepCopyInto(out *CopyStrings) { *out = in }

type CopyTable map[string]*Deep

func (in CopyTable) DeepCopy() CopyTable { return in }

type IntoTable map[string]*Deep

func (in IntoTable) DeepCopyInto(out *IntoTable) { *out = in }

type PtrTable map[string]string

func (in *PtrTable) DeepCopy() *PtrTable { return in }

type CopyStr string

func (in CopyStr) DeepCopy() CopyStr { return in }

type CopyPair [2]int

func (in CopyPair) DeepCopy() CopyPair { return in }

type CopyCall func()

func (in CopyCall) DeepCopy() CopyCall { return in }

type Embeds struct{ Both }

type EmbedsPtr struct{ *Both }

type WrongResult struct{ S []string }

func (in *WrongResult) DeepCopy() any { return in }

type WrongParam struct{ S []string }

func (in *WrongParam) DeepCopy(deep bool) *WrongParam { return in }

type WrongInto struct{ S []string }

func (in *WrongInto) DeepCopyInto(out WrongInto) {}

type ErrInto struct{ S []string }

func (in *ErrInto) DeepCopyInto(out *ErrInto) error { return nil }

type MixedReceiver struct{ S []string }

func (in *MixedReceiver) DeepCopy() MixedReceiver { return *in }

type CopyAlias = Both

type List[T any] struct{ Items []T }

func (in List[T]) DeepCopy() List[T] { return in }
