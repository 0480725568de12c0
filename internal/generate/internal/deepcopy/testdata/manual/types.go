// Package manual has methods that were written by hand.
// +kubebuilder:object:generate=true
package manual

// Both needs nothing.
type Both struct{ Names []string }

// DeepCopyInto is enough for everybody.
func (in *Both) DeepCopyInto(out *Both) { out.Names = append([]string(nil), in.Names...) }

// DeepCopy is as usual.
func (in *Both) DeepCopy() *Both { out := new(Both); in.DeepCopyInto(out); return out }

// Into lacks DeepCopy.
type Into struct{ Names []string }

// DeepCopyInto is written by hand.
func (in *Into) DeepCopyInto(out *Into) { out.Names = append([]string(nil), in.Names...) }

// Copy lacks DeepCopyInto.
type Copy struct{ Names []string }

// DeepCopy is written by hand.
func (in *Copy) DeepCopy() *Copy { return &Copy{Names: append([]string(nil), in.Names...)} }

// Value copies by value.
type Value struct{ Names []string }

// DeepCopy is written by hand, on values.
func (in Value) DeepCopy() Value { return Value{Names: append([]string(nil), in.Names...)} }

// List is a reference with a method.
type List []*Value

// DeepCopy is written by hand.
func (in List) DeepCopy() List { return append(List(nil), in...) }

// Number is a basic type with a method.
type Number int

// DeepCopy is written by hand.
func (in *Number) DeepCopy() *Number { out := *in; return &out }

// Amount is a basic type with the other method.
type Amount int

// DeepCopyInto is written by hand.
func (in *Amount) DeepCopyInto(out *Amount) { *out = *in }

// Copier is an interface that copies itself.
// +kubebuilder:object:generate=false
type Copier interface {
	DeepCopy() Copier
	Name() string
}

// Fields uses all of them.
type Fields struct {
	Both       Both
	BothPtr    *Both
	BothList   []Both
	BothMap    map[string]Both
	BothPtrMap map[string]*Both

	Into       Into
	IntoPtr    *Into
	IntoList   []Into
	IntoMap    map[string]Into
	IntoPtrMap map[string]*Into

	Copy       Copy
	CopyPtr    *Copy
	CopyList   []Copy
	CopyMap    map[string]Copy
	CopyPtrMap map[string]*Copy

	Value       Value
	ValuePtr    *Value
	ValueList   []Value
	ValueMap    map[string]Value
	ValuePtrMap map[string]*Value

	List    List
	ListPtr *List
	ListMap map[string]List

	Number    Number
	NumberPtr *Number
	Amount    Amount
	AmountPtr *Amount
	Amounts   []Amount

	Copier    Copier
	CopierMap map[string]Copier
}

// Embeds has a method that is not its own.
type Embeds struct {
	Both
	Names []string
}

// HoldsEmbeds uses it.
type HoldsEmbeds struct {
	Embeds    Embeds
	EmbedsPtr *Embeds
	EmbedsMap map[string]Embeds
}
