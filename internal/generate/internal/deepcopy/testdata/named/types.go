// +kubebuilder:object:generate=true

// Package named copies types under other names.
package named

import "time"

// Names for what has no methods by itself.
type (
	Text     string
	Flag     bool
	Pointer  *Struct
	Texts    []Text
	Structs  []Struct
	Pointers []*Struct
	ByName   map[string]Struct
	Lists    map[Text][]Text
	Matrix   [][]int
	Second   Texts
	Third    Second
	Like     Struct
	LikeMap  ByName
)

// Aliases are other names for the same types.
type (
	TextAlias   = Text
	TextsAlias  = Texts
	SliceAlias  = []string
	StructAlias = Struct
	DeepAlias   = Deep
	PtrAlias    = *Struct
	MapAlias    = map[string]Deep
)

// Struct is shallow.
type Struct struct {
	Text Text
	Flag Flag
	For  time.Duration
}

// Deep is not.
type Deep struct {
	Texts Texts
}

// Fields uses the names.
type Fields struct {
	Text       Text
	TextPtr    *Text
	Pointer    Pointer
	Texts      Texts
	TextsPtr   *Texts
	TextsMap   map[string]Texts
	TextsSlice []Texts
	Structs    Structs
	Pointers   Pointers
	ByName     ByName
	Lists      Lists
	Matrix     Matrix
	Third      Third
	ThirdPtr   *Third
	Like       Like
	LikeMap    LikeMap
	TwoLevels  map[string]ByName
	PtrToPtr   *Pointer
}

// AliasFields uses the aliases.
type AliasFields struct {
	Text       TextAlias
	TextPtr    *TextAlias
	Texts      TextsAlias
	Slice      SliceAlias
	SlicePtr   *SliceAlias
	Slices     []SliceAlias
	Struct     StructAlias
	StructPtr  *StructAlias
	StructList []StructAlias
	Deep       DeepAlias
	DeepPtr    *DeepAlias
	DeepList   []DeepAlias
	DeepMap    map[string]DeepAlias
	Ptr        PtrAlias
	Map        MapAlias
	MapMap     map[string]MapAlias
}

// Embedded has fields without names.
type Embedded struct {
	Struct
	*Deep
	Texts
	Text
	Inner
}

// Inner is embedded.
type Inner struct {
	Names []string
}
