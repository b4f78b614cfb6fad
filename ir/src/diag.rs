//! Diagnostics: what the compiler tells its user, and the one table of their codes.
//!
//! A code is stable: it is never renumbered and never reused. Rendering lives in the command, not here.

use std::fmt;

use crate::span::Span;

/// How bad it is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Severity {
    /// The program is rejected.
    Error,
    /// The program is accepted; `--deny` makes it an error.
    Warning,
}

/// A place that a diagnostic points at.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Label {
    /// The place.
    pub span: Span,
    /// What is to be seen there; may be empty.
    pub text: String,
    /// Whether this is the place the diagnostic is about (there is at most one).
    pub primary: bool,
}

/// One message to the user.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Diagnostic {
    /// The stable code.
    pub code: Code,
    /// Error or warning.
    pub severity: Severity,
    /// One line in plain words, no final full stop.
    pub message: String,
    /// The places, the primary one first.
    pub labels: Vec<Label>,
    /// Facts that explain it.
    pub notes: Vec<String>,
    /// How to mend it.
    pub help: Option<String>,
}

impl Diagnostic {
    /// An error at `span`.
    pub fn error(code: Code, span: Span, message: impl Into<String>) -> Diagnostic {
        let primary = Label { span, text: String::new(), primary: true };
        Diagnostic { labels: vec![primary], ..Diagnostic::spanless(code, message) }
    }

    /// A warning at `span`.
    pub fn warning(code: Code, span: Span, message: impl Into<String>) -> Diagnostic {
        Diagnostic { severity: Severity::Warning, ..Diagnostic::error(code, span, message) }
    }

    /// An error that no place in a source file can be given for.
    pub fn spanless(code: Code, message: impl Into<String>) -> Diagnostic {
        let (severity, message) = (Severity::Error, message.into());
        Diagnostic { code, severity, message, labels: Vec::new(), notes: Vec::new(), help: None }
    }

    /// Sets the text at the primary place.
    pub fn at(mut self, text: impl Into<String>) -> Diagnostic {
        if let Some(label) = self.labels.first_mut() {
            label.text = text.into();
        }
        self
    }

    /// Adds a secondary place.
    pub fn label(mut self, span: Span, text: impl Into<String>) -> Diagnostic {
        self.labels.push(Label { span, text: text.into(), primary: false });
        self
    }

    /// Adds a note.
    pub fn note(mut self, text: impl Into<String>) -> Diagnostic {
        self.notes.push(text.into());
        self
    }

    /// Sets the help line.
    pub fn help(mut self, text: impl Into<String>) -> Diagnostic {
        self.help = Some(text.into());
        self
    }

    /// The place the diagnostic is about.
    pub fn span(&self) -> Option<Span> {
        self.labels.iter().find(|label| label.primary).map(|label| label.span)
    }

    /// Whether it rejects the program.
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }
}

/// Declares [`Code`] and its table from rows `Name = "R0000", "title", "explanation";`.
macro_rules! codes {
    ($($name:ident = $text:literal, $title:literal, $long:literal;)*) => {
        /// A stable code. The table in this file lists them all.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub enum Code {
            $(#[doc = concat!($text, ": ", $title)] $name,)*
        }

        impl Code {
            /// Every code in the order of the table.
            pub const ALL: &[Code] = &[$(Code::$name,)*];

            /// The code as printed, `R` and four digits.
            pub fn as_str(self) -> &'static str {
                match self { $(Code::$name => $text,)* }
            }

            /// The row's name in the source, for tables and search.
            pub fn name(self) -> &'static str {
                match self { $(Code::$name => stringify!($name),)* }
            }

            /// One line on what the code means.
            pub fn title(self) -> &'static str {
                match self { $(Code::$name => $title,)* }
            }

            /// The longer explanation that `--explain` prints.
            pub fn explanation(self) -> &'static str {
                match self { $(Code::$name => $long,)* }
            }
        }
    };
}

impl Code {
    /// Looks a code up by its printed form, in any case.
    pub fn parse(text: &str) -> Option<Code> {
        Code::ALL.iter().copied().find(|code| code.as_str().eq_ignore_ascii_case(text))
    }

    /// The stage that reports the code, from its hundreds.
    pub fn stage(self) -> &'static str {
        match self.as_str().get(1..3) {
            Some("00") => "general",
            Some("01") => "syntax",
            Some("02") => "names",
            Some("03") => "types",
            Some("04") => "masks and moves",
            Some("05") => "lowering",
            Some("06") => "fusion",
            Some("07") => "backend",
            Some("08") => "verification",
            _ => "other",
        }
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

// One row per block; rows of a stage in ascending order; add rows at the end of their stage.
codes! {
    // 00xx: general
    NotAvailableYet = "R0001", "not available yet",
        "The form belongs to the language and is parsed, but this version of the compiler does not implement it. \
         `--print-capabilities` lists what each profile compiles.";
    LimitExceeded = "R0002", "a counted limit was exceeded",
        "The compiler bounds the sizes that could make it run without end or out of memory: graph nodes, definitions, \
         unrolled statements, embedded bytes, source bytes. The message names the limit, and the documentation lists \
         them. Split the program to stay below.";
    NestedTooDeeply = "R0003", "nested too deeply",
        "Expressions, bodies and block comments nest at most 256 deep, so that no input can exhaust the compiler's \
         stack. Bind inner parts to names, or move them to definitions of their own.";
    TooManyErrors = "R0004", "too many errors",
        "After a bounded number of errors the rest of the file is not reported. Mend the first ones and try again.";
    Internal = "R0005", "the compiler contradicts itself",
        "A check between two passes failed. This is a fault of the compiler and not of the program.";
    WidthMismatch = "R0006", "the profile has another lane count than --width asks for",
        "`--width N` asserts the number of f32 lanes in a rack. The profile fixes that number; give a profile of the \
         width that the program was written for, or leave the option out.";
    PassChangedResult = "R0007", "a pass changed what the program computes",
        "`--check-passes` evaluated the program before and after each pass on the same inputs, and the results differ. \
         This is a fault of the compiler and not of the program.";
    Usage = "R0008", "the command line asks for what cannot be",
        "An option is unknown, contradicts another, or means nothing here, or a file cannot be read or written. The \
         message names it; `--help` lists the options. People see it without a code; `--message-format json` has it with one.";
    MalformedDump = "R0020", "an IR dump that cannot be read",
        "Dumps from `tined` on read back. Their grammar is one line for each value, `%3 : f32s = fma %0, %1, %2 if %5`, \
         inside blocks; a value is defined before it is used. The message names what was expected, or which rule of the IR \
         the program in the dump breaks.";
    WrongDump = "R0021", "a dump of another IR or version",
        "The first line of a dump names its IR and the version of the grammar, `rake tined 1`. Start from the IR that the \
         dump holds, or write the dump again with this compiler.";

    // 01xx: lexer, layout, parser
    InvalidUtf8 = "R0101", "the source is not UTF-8",
        "Source files are UTF-8. Save the file in that encoding.";
    InvalidCharacter = "R0102", "a character that cannot stand here",
        "Outside comments and strings only printable ASCII, spaces and line breaks may stand.";
    StrayCarriageReturn = "R0103", "a carriage return without a line feed",
        "Lines end in LF or CRLF. A lone CR is refused, since editors disagree on whether it ends a line.";
    TabInIndentation = "R0104", "a tab in the indentation",
        "Indentation is spaces, so that a body's lines align in every editor.";
    UnclosedComment = "R0105", "a block comment is not closed",
        "`(*` opens a block comment, which nests; each needs its own `*)`.";
    UnclosedString = "R0106", "a string is not closed",
        "A string ends at the next `\"` on its line; `\\\"` does not end it.";
    MalformedNumber = "R0107", "a malformed number",
        "Integers are decimal or `0x` hexadecimal. Floats have a `.` after the first digits or an exponent with at \
         least one digit: `1.0`, `2.`, `1e-3`. A letter or digit may not follow directly.";
    IntegerTooLarge = "R0108", "an integer literal beyond 2^64-1",
        "No type holds it. The largest integer literal is 18446744073709551615.";
    InvalidName = "R0109", "a name that cannot stand here",
        "Names start with a lowercase letter or `_`, type names with an uppercase letter; both continue with letters, \
         digits and `_`. A lone `_` is only the default arm of a sweep.";
    ReservedWord = "R0110", "a reserved word used as a name",
        "The word belongs to the language. Choose another name.";
    UnexpectedIndentation = "R0111", "inconsistent indentation",
        "All lines of a body are indented equally and more than the line that opened it, and a line further out aligns \
         with a body that is still open.";
    ExpectedBody = "R0112", "a body is missing",
        "A line that ends in `:` opens a body: the following lines, indented more than the opener.";
    UnexpectedToken = "R0113", "something else was expected here",
        "The grammar expects another word or sign at this place; the message names it.";
    UnclosedBracket = "R0114", "a bracket is not closed",
        "Each `(`, `[` and `{` needs its partner.";
    UnmatchedBracket = "R0115", "a closing bracket without an opening one",
        "Each `)`, `]` and `}` closes the nearest open bracket of its kind.";
    ChainedComparison = "R0116", "comparisons do not chain",
        "`a < b < c` is refused: write `a < b and b < c`.";
    NotOfComparison = "R0117", "`not` binds tighter than a comparison",
        "`not a < b` would compare `not a` with `b`. Write `not (a < b)`.";
    ArrowInExpression = "R0118", "`<-` is not a comparison",
        "`<-` assigns. To compare with a negative number, put a space between: `x < -1.0`.";
    ExpectedExpression = "R0119", "an expression is missing",
        "An operand, argument or value is expected at this place.";
    ExpectedType = "R0120", "a type is missing",
        "A type is expected at this place.";
    ExpectedDefinition = "R0121", "a definition is expected",
        "At the outermost level stand scratches, rakes, tines, runs, packs, slow functions, records, unions, states, \
         embeds and constants only.";
    InvalidMark = "R0122", "this cannot stand in a uniform mark",
        "Inside `<...>` stands a literal, a name, a field path or an element. Bind anything else with \
         `let <name: T> = ...` and mark the name.";
    InvalidPlace = "R0123", "this cannot be assigned to",
        "On the left of `<-` stands a location: a name, a field or an element.";
    MisplacedStatement = "R0124", "a form that cannot stand here",
        "The form is known but belongs to another kind of body.";

    // 02xx: names
    UndefinedName = "R0201", "a name that nothing defines",
        "Every name refers to a parameter, a binding before it, a definition of the file or an operation of the \
         vocabulary. The help names the nearest spelling.";
    BoundTwice = "R0202", "a name bound twice",
        "Names are bound once in their scope. Choose another name, or use a mutable location, `x := e` and `x <- e`.";
    Shadowed = "R0203", "a name that hides another",
        "Names never shadow a binding around them or a definition of the file. Choose another name.";
    Recursion = "R0204", "a recursive definition",
        "Calls of scratches, rakes and tines are inlined, so none may reach itself.";
    CallsTooDeep = "R0205", "a chain of calls that is too long",
        "Calls are inlined, and a chain of them may be 32 deep.";
    CKeyword = "R0206", "a C keyword as a definition's name",
        "The definition becomes a C function of the same name, which may not be a keyword of C.";
    WrongKind = "R0207", "a name of another kind",
        "The name is defined but cannot stand here: a value is not called, and a definition is not a value.";

    // 03xx: types
    TypeMismatch = "R0301", "types that do not fit",
        "There are no implicit conversions. Operands of one operation have one type, and a value has the type that its \
         place asks for. Conversions such as `to_f32` are written out.";
    UnmarkedUniform = "R0302", "a uniform without its mark",
        "In vector code a uniform is always written in angle brackets, where it is declared and where it is used, so that \
         every broadcast is visible. Write `<name>`.";
    MarkedRack = "R0303", "a uniform mark on a rack or mask",
        "Angle brackets mark uniforms. A rack or mask is written without them.";
    LiteralRange = "R0304", "a literal outside its type",
        "A literal has the type of the operand beside it or the type that its place asks for; otherwise an integer is \
         `i32` and a float is `f32`. Its value, with a minus directly before it, must lie in that type's range.";
    LiteralKind = "R0305", "a literal of the wrong kind",
        "An integer literal is no float and a float literal no integer: write `2.0` beside floats and `2` beside integers.";
    NotInStage = "R0306", "a fused stage that is not pure data flow",
        "A stage is emitted with its region as one run of vector instructions. It may hold arithmetic, comparisons, mask \
         logic, uniforms, literals, `if`, `fma`, shuffles and pure element operations. Calls, reductions, scans, \
         `extract`, `insert`, `bitmask`, memory and `bitcast` stand in a `let` before the region.";
    WrongArguments = "R0307", "arguments that do not fit the call",
        "The number of arguments, or a literal among them, is not what the operation or definition takes.";
    IndexOutOfRange = "R0308", "a lane, count or element that does not exist",
        "Lane numbers lie below the profile's lane count, shift counts below the element's width, elements of an array \
         below its length.";
    NotConstant = "R0309", "a value that must be known when compiled",
        "Bounds of a repeat, indices of rack arrays, lane numbers and literal shift counts are made of literals, \
         constants, `lanes` and indices of repeats.";
    NotALocation = "R0310", "an assignment to something that is no location",
        "Only a name bound with `:=` can be assigned with `<-`.";
    NotInVectorCode = "R0311", "an operation of slow code in vector code",
        "Racks have no remainder and integers no division in vector code.";
    InvalidType = "R0312", "a type that cannot stand here",
        "Parameters of a scratch are racks, masks and marked uniforms.";
    MissingResult = "R0313", "a body without a result",
        "The last statement of a scratch is an expression: its result.";
    TooManyArguments = "R0314", "more arguments than registers",
        "A scratch or rake takes at most eight vector arguments (racks, masks, float uniforms) and six integer arguments, \
         because it never takes arguments on the stack.";
    NotInThrough = "R0315", "a form that cannot stand in a through body",
        "A through body holds `let` bindings, fused bindings, locations of its own and its result. Calls of scratches and rakes, \
         other through blocks, tines and assignments to locations around it stand outside.";

    // 04xx: masks, coverage and moves
    UnderMask = "R0401", "an operation that cannot stand under a mask",
        "Reductions, scans, `bitmask`, `all` and `any` combine every lane, so they cannot stand where only some lanes are \
         computed: in a branch of a conditional, a through body, a stack run's traversal. Bind the result with `let` before.";
    PartialLanes = "R0402", "lanes moved out of a partial value",
        "An operation that moves lanes reads lanes of its operand that the branch around it does not compute. Bind the operand \
         with `let` before the branch.";
    NotCovered = "R0403", "a sweep that does not cover every lane",
        "For every lane some arm of a sweep must apply, whatever the comparisons in its predicates give. The proof is \
         propositional over comparisons: on integers `x >= y` is the complement of `x < y`, on floats it is not, because \
         a NaN is in neither. The note names an assignment under which no arm applies. End the sweep with `| _ => ...`.";
    UnreachableArm = "R0404", "an arm that no lane reaches",
        "Arms take lanes in order. The arms before this one leave it none, or its predicate never holds. \
         Remove it, or move it before the arms that take its lanes.";
    UndefinedLanes = "R0405", "a read of lanes that have no value",
        "The result of a through block without `else` has a value in the block's lanes only. It may be read where the mask \
         around the reader implies the block's: in a through body, an arm of a sweep, a branch of an `if`. `select` computes \
         both its operands in every lane. Give the other lanes a value with `else`, or read it under its mask.";
    PartialPredicate = "R0406", "a predicate over a partial value",
        "Predicates are computed in every lane, so they cannot read the result of a through block without `else`. Give the \
         other lanes a value with `else`.";

    // 05xx: inlining, unrolling and lowering

    // 06xx: fusion

    // 07xx: back ends
    NotOnProfile = "R0701", "an operation that the profile does not have",
        "A program that cannot keep the language's promises on a profile is rejected. The message names the construct, the \
         profile and the obligation that it cannot meet.";
    OutOfRegisters = "R0702", "more racks are live than the profile has registers",
        "A rack is one register and is never spilled to memory. No order of the definition's instructions that was tried \
         keeps its live racks within the registers of the profile. Compute values later, use them sooner, or split the \
         definition; a profile with more registers may accept it.";

    // 08xx: verification
    ObjectMalformed = "R0801", "an object that this compiler does not write",
        "The verifier reads the finished object back. Its headers, sections, symbols or relocations are not as this \
         compiler writes them, so nothing can be said of its code.";
    ObjectDiffers = "R0802", "the object differs from the allocated program",
        "Decoded by a decoder other than the encoder that wrote it, the object's code, relocations, literals or symbols \
         are not those of the allocated program. This is a fault of the compiler, or the object was changed.";
    ObligationBroken = "R0803", "an obligation of vector code is broken",
        "The object's bytes alone show something that vector code promises not to do: an instruction outside the profile's \
         list, a call, a branch, stack or general-register work, part of a rack, a memory access other than a constant \
         load, a cross-lane instruction or fused multiply-add that was not selected, a register read that nothing wrote, or \
         a torn region. The message names \
         the obligation.";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_well_formed_and_unique() {
        let mut seen = std::collections::BTreeSet::new();
        for code in Code::ALL {
            let text = code.as_str();
            assert!(text.len() == 5 && text.starts_with('R'), "{text}");
            assert!(text[1..].bytes().all(|byte| byte.is_ascii_digit()), "{text}");
            assert!(seen.insert(text), "{text} stands twice");
            assert_ne!(code.stage(), "other", "{text}");
            assert!(!code.title().is_empty() && !code.explanation().is_empty(), "{text}");
            assert_eq!(Code::parse(&text.to_lowercase()), Some(*code));
        }
        assert_eq!(Code::parse("R9999"), None);
    }
}
