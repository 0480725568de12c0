package edition

// Syntax is how the values of markers are read. The zero value is the newest.
type Syntax struct {
	// Digits take what begins with them for a number: 100Mi and 2024-01-15 are mistakes. Else they are strings.
	Digits bool
	// Colons end a string without quotes.
	Colons bool
	// Groups need a name: +groupName= alone is a mistake.
	Groups bool
	// Plain are bounds of numbers and lists whose values are read as all others are. Else they take what Go takes for
	// a number.
	Plain bool
}

// Types is what differs in the types of code.
type Types struct {
	// Aliases are types of their own. Without them an alias is but another name.
	Aliases bool
}

// Schemas is what differs in the schemas of definitions.
type Schemas struct {
	// Optional are the options of a json tag that make a field optional.
	Optional []string
	// RequiredWins makes +kubebuilder:validation:Required count for a field that its tag makes optional.
	RequiredWins bool
	// PlainDocs leaves lines that begin with TODO, and what follows ---, in descriptions, and ends a paragraph with two
	// empty lines.
	PlainDocs bool
	// CutAtWords ends a description that is too long after a word, with three dots.
	CutAtWords bool
	// JoinRules keeps the CEL rules of a field and those of its type in one list; without it both stand in an allOf.
	JoinRules bool
	// KeepEnum keeps the enum of the type where a field has one, too; without it both stand in an allOf.
	KeepEnum bool
	// EqualSizes are kept where a field and its type say the same about the number of properties; without it both
	// stand in an allOf.
	EqualSizes bool
	// LastList has the list type and the keys of a field override those of its type; without it both stand in an allOf.
	LastList bool
	// SortedRequired are the names of required fields in order, also in a struct that nothing is merged into.
	SortedRequired bool
	// TCP is the default of corev1.Protocol.
	TCP bool
	// ItemsLists allows markers for the items of a list to have a list as value; without it controller-gen panics.
	ItemsLists bool
	// AliasForms are what aliases stand for: no schema is known of those that are not basic. Else an alias stands for
	// the type that it names.
	AliasForms bool
	// AliasedBasics have the markers of the alias by which a basic type is called.
	AliasedBasics bool
	// MarshalText makes a type with a method MarshalText a string.
	MarshalText bool
	// TextKeys allows them as keys of maps.
	TextKeys bool
	// BoundedIntOrString allows bounds of the length of what may be an integer or a string.
	BoundedIntOrString bool
	// NamedBasics and NamedLists are the named types whose form markers at a field know: strings and numbers; lists and
	// maps, and what an alias of an alias names.
	NamedBasics, NamedLists bool
	// RepeatedPointers applies the markers of a declared pointer twice.
	RepeatedPointers bool
	// KeysOnce drops a key of a list that is there already.
	KeysOnce bool
	// FillRequired has +k8s:required demand that the field is not empty.
	FillRequired bool
	// AtMostOne, ExactlyOne and AtLeastOne are the rules of markers that let one of several fields be set.
	AtMostOne, ExactlyOne, AtLeastOne Choice
	// Grouped makes definitions of packages without a group, whose group and version are empty.
	Grouped bool
}

// A Choice is how a rule in CEL is made of the names of fields.
type Choice struct {
	Each      string // for a field, with %s for its name
	Separator string
	Rule      string // with %s for all of them
}

// Roles is what differs in roles.
type Roles struct {
	// Split makes a rule for each resource, so that rules can be merged by them.
	Split bool
	// KeepURLs keeps rules without resources when others are split.
	KeepURLs bool
	// CoreFirst gives the core group its empty name before rules are compared.
	CoreFirst bool
	// Merged are the lists of rules by which those are merged that differ in nothing else: resources, groups, urls.
	Merged []string
	// AnyVerb drops all verbs beside *.
	AnyVerb bool
}

// Webhooks is what differs in the configurations of webhooks.
type Webhooks struct {
	// Sorted orders the webhooks of all packages by their names, not only those of each; else packages come in the
	// order in which the go command lists them.
	Sorted bool
}

// Copies is what differs in DeepCopy methods.
type Copies struct {
	// PointerTypes have methods if what they point to has one.
	PointerTypes bool
	// Aliases have names in methods. Without them an alias is a mistake, where types know aliases at all.
	Aliases bool
	// NamedPointers makes room for what a pointer points to by the name of its type.
	NamedPointers bool
}

// Apply is what differs in apply configurations.
type Apply struct {
	// Generators is the version of k8s.io/code-generator that writes them.
	Generators string
	// Group is needed: a package without one is a mistake.
	Group bool
	// Scope makes those of cluster-scoped kinds have no namespace.
	Scope bool
	// Structure describes the types, for the extraction of what a manager owns.
	Structure bool
	// Kinds are all whose structure is described; else all types with configurations are.
	Kinds bool
}
