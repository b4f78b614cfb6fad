//! Tokens and the reserved words.

use std::fmt;

use rake_ir::span::{FileId, Span};
use rake_ir::types::Elem;

/// A token, also a line's end and a body's bounds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Token {
    /// What it is.
    pub kind: TokenKind,
    /// Offset of its first byte.
    pub start: u32,
    /// Offset after its last byte.
    pub end: u32,
    /// Whether an error about this place has been reported, so that the parser keeps silent about it.
    pub silent: bool,
}

impl Token {
    /// Its place in `file`.
    pub fn span(&self, file: FileId) -> Span {
        Span::new(file, self.start, self.end)
    }
}

/// The kinds of tokens.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TokenKind {
    /// A lowercase name.
    Ident,
    /// An uppercase name.
    TypeName,
    /// A lone `_`.
    Underscore,
    /// `#name`
    Tine,
    /// A reserved word.
    Keyword(Keyword),
    /// The spelling of a scalar or rack type.
    Primitive(Elem, Plural),
    /// An integer literal.
    Int,
    /// A float literal.
    Float,
    /// A string literal.
    Str,
    /// A sign.
    Sign(Sign),
    /// The end of a line that does not open a body.
    Newline,
    /// The start of a body.
    Indent,
    /// The end of a body.
    Dedent,
    /// The end of the file.
    Eof,
    /// What could not be read; reported by the lexer.
    Error,
}

impl TokenKind {
    /// Whether the layout put it in.
    pub fn is_layout(self) -> bool {
        matches!(self, TokenKind::Newline | TokenKind::Indent | TokenKind::Dedent | TokenKind::Eof)
    }
}

/// Whether a primitive's spelling names the scalar or the rack of it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Plural {
    /// `f32`
    Scalar,
    /// `f32s`
    Rack,
}

/// Declares an enum whose members have one spelling each.
macro_rules! spelled {
    ($(#[$doc:meta])* $name:ident { $($member:ident = $text:literal,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        #[allow(missing_docs)]
        pub enum $name { $($member,)* }

        impl $name {
            /// Every member.
            pub const ALL: &[$name] = &[$($name::$member,)*];

            /// The spelling.
            pub fn as_str(self) -> &'static str {
                match self { $($name::$member => $text,)* }
            }

            /// The member with a spelling.
            pub fn from_text(text: &str) -> Option<$name> {
                match text { $($text => Some($name::$member),)* _ => None }
            }
        }
    };
}

spelled! {
    /// The reserved words other than the primitive types' spellings. `copy`, `compact`, `where`, `with`, `wrap` and
    /// `bitcast` are names that the parser gives a meaning where their forms can stand.
    Keyword {
        And = "and",
        Break = "break",
        By = "by",
        Const = "const",
        Continue = "continue",
        Else = "else",
        Embed = "embed",
        Extern = "extern",
        False = "false",
        Fma = "fma",
        For = "for",
        From = "from",
        Gaps = "gaps",
        If = "if",
        In = "in",
        Into = "into",
        Lanes = "lanes",
        Let = "let",
        Mask = "mask",
        Means = "means",
        Mut = "mut",
        Not = "not",
        Or = "or",
        Pack = "pack",
        Ptr = "ptr",
        Rake = "rake",
        Record = "record",
        Repeat = "repeat",
        Return = "return",
        RotateLeft = "rotate_left",
        RotateRight = "rotate_right",
        Run = "run",
        Scratch = "scratch",
        ShiftLeft = "shift_left",
        ShiftRight = "shift_right",
        Shuffle = "shuffle",
        Slow = "slow",
        Stack = "stack",
        State = "state",
        Sweep = "sweep",
        Then = "then",
        Through = "through",
        TineWord = "tine",
        To = "to",
        True = "true",
        Unchecked = "unchecked",
        Union = "union",
        Up = "up",
        Using = "using",
        While = "while",
        Yield = "yield",
    }
}

impl Keyword {
    /// Whether the word names an operation that is called like a function.
    pub fn is_operation(self) -> bool {
        use Keyword::*;
        matches!(self, Fma | RotateLeft | RotateRight | ShiftLeft | ShiftRight | Shuffle)
    }

    /// Whether the word can start a definition.
    pub fn starts_definition(self) -> bool {
        use Keyword::*;
        matches!(self, Scratch | Rake | TineWord | Run | Pack | Slow | Extern | Record | Union | State | Embed | Const)
    }
}

spelled! {
    /// The signs.
    Sign {
        LParen = "(",
        RParen = ")",
        LBracket = "[",
        RBracket = "]",
        LBrace = "{",
        RBrace = "}",
        Comma = ",",
        Semicolon = ";",
        Colon = ":",
        Dot = ".",
        At = "@",
        Bar = "|",
        Plus = "+",
        Minus = "-",
        Star = "*",
        Slash = "/",
        Percent = "%",
        Eq = "=",
        Lt = "<",
        Gt = ">",
        Le = "<=",
        Ge = ">=",
        Ne = "!=",
        FlowsInto = "<|",
        FatArrow = "=>",
        Arrow = "->",
        Assign = "<-",
        Becomes = ":=",
    }
}

impl Sign {
    /// The closing partner of an opening bracket.
    pub fn closer(self) -> Option<Sign> {
        match self {
            Sign::LParen => Some(Sign::RParen),
            Sign::LBracket => Some(Sign::RBracket),
            Sign::LBrace => Some(Sign::RBrace),
            _ => None,
        }
    }

    /// Whether it closes a bracket.
    pub fn is_closer(self) -> bool {
        matches!(self, Sign::RParen | Sign::RBracket | Sign::RBrace)
    }
}

/// Reads a primitive type's spelling.
pub fn primitive(text: &str) -> Option<(Elem, Plural)> {
    let (stem, plural) = match text.strip_suffix('s') {
        Some(stem) => (stem, Plural::Rack),
        None => (text, Plural::Scalar),
    };
    Elem::from_name(stem).map(|elem| (elem, plural))
}

/// The words of language.md's list that are names to the lexer.
pub const CONTEXTUAL: [&str; 4] = ["compact", "copy", "where", "with"];

/// Whether `text` is reserved everywhere, so that a printer or a generator must not use it as a name.
pub fn is_reserved(text: &str) -> bool {
    Keyword::from_text(text).is_some() || primitive(text).is_some()
}

impl fmt::Display for TokenKind {
    /// How messages name a kind of token.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TokenKind::Ident => f.write_str("a name"),
            TokenKind::TypeName => f.write_str("a type name"),
            TokenKind::Underscore => f.write_str("`_`"),
            TokenKind::Tine => f.write_str("a tine"),
            TokenKind::Keyword(word) => write!(f, "`{}`", word.as_str()),
            TokenKind::Primitive(elem, Plural::Scalar) => write!(f, "`{}`", elem.name()),
            TokenKind::Primitive(elem, Plural::Rack) => write!(f, "`{}s`", elem.name()),
            TokenKind::Int => f.write_str("an integer"),
            TokenKind::Float => f.write_str("a float"),
            TokenKind::Str => f.write_str("a string"),
            TokenKind::Sign(sign) => write!(f, "`{}`", sign.as_str()),
            TokenKind::Newline => f.write_str("the end of the line"),
            TokenKind::Indent => f.write_str("an indented body"),
            TokenKind::Dedent => f.write_str("the end of the body"),
            TokenKind::Eof => f.write_str("the end of the file"),
            TokenKind::Error => f.write_str("something unreadable"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reserved_words_are_those_of_the_reference() {
        let listed = "and bool bools break by compact const continue copy else embed extern f32 f32s f64 f64s false \
            fma for from gaps i8 i8s i16 i16s i32 i32s i64 i64s if in into lanes let mask means mut not or pack ptr \
            rake record repeat return rotate_left rotate_right run scratch shift_left shift_right shuffle slow stack \
            state sweep then through tine to true u8 u8s u16 u16s u32 u32s u64 u64s unchecked union up using where \
            while with yield";
        let mut ours: Vec<String> = Keyword::ALL.iter().map(|word| word.as_str().to_string()).collect();
        for elem in Elem::ALL {
            ours.extend([elem.name().to_string(), format!("{}s", elem.name())]);
        }
        ours.extend(CONTEXTUAL.map(String::from));
        ours.sort();
        let mut listed: Vec<&str> = listed.split_whitespace().collect();
        listed.sort();
        assert_eq!(ours, listed);
    }
}
