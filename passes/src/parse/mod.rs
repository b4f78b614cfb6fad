//! parse: text → `surface`.
//!
//! ```text
//! scratch advance(p: f32s, v: f32s) -> f32s:
//!   | scaled <| v * <0.5>                       one region of two stages
//!   | moved <| p + scaled
//!   moved                                       the result
//! ```
//!
//! Three steps: the lexer splits the text, the layout turns indentation into tokens and balances brackets, and a
//! recursive-descent parser with precedence climbing builds the tree. Every source gives a tree, whatever is wrong with
//! it; the diagnostics tell whether it can be used. After an error the parser is silent until the statement's end.
//!
//! Limits: nesting of expressions, bodies and comments 256 each; 50 errors a file; see [`rake_ir::span::MAX_SOURCE_BYTES`].

use rake_ir::diag::{Code, Diagnostic};
use rake_ir::span::{MAX_SOURCE_BYTES, Source, Span};
use rake_ir::surface::{Comment, File};

mod cursor;
mod definitions;
mod expressions;
mod layout;
mod lexer;
mod marks;
mod sink;
mod statements;
pub mod token;
mod types;

#[cfg(test)]
mod tests;

pub use cursor::MAX_NESTING;
pub use lexer::MAX_COMMENT_NESTING;
pub use sink::MAX_ERRORS;
use sink::Sink;
pub use token::{Token, TokenKind};

/// Parses a source file. The tree is complete where no error was reported; what could not be parsed stands in it as
/// `Error` nodes. Diagnostics come in source order.
pub fn parse(source: &Source) -> (File, Vec<Diagnostic>) {
    let mut sink = Sink::default();
    if let Some(diagnostic) = unreadable(source) {
        return (File { id: source.id(), ..File::default() }, vec![diagnostic]);
    }
    let lexed = lexer::lex(source, &mut sink);
    let tokens = layout::layout(source.id(), source.text().len() as u32, &lexed, &mut sink);
    let mut parser = cursor::Parser::new(source, tokens, sink);
    parser.file.comments = lexed.comments;
    parser.definitions();
    (parser.file, parser.sink.finish())
}

/// The tokens with their layout, as the parser sees them; the last one is the file's end.
pub fn tokens(source: &Source) -> (Vec<Token>, Vec<Diagnostic>) {
    let mut sink = Sink::default();
    if let Some(diagnostic) = unreadable(source) {
        return (Vec::new(), vec![diagnostic]);
    }
    let lexed = lexer::lex(source, &mut sink);
    let tokens = layout::layout(source.id(), source.text().len() as u32, &lexed, &mut sink);
    (tokens, sink.finish())
}

/// The comments of a source, whatever else is wrong with it.
pub fn comments(source: &Source) -> Vec<Comment> {
    lexer::lex(source, &mut Sink::default()).comments
}

/// Prints tokens one a line, `line:column kind text`, for `--emit-tokens`.
pub fn print_tokens(source: &Source, tokens: &[Token]) -> String {
    let mut out = String::new();
    let mut place = (0usize, 1u32, 1u32);
    for token in tokens {
        place = advance(source.text(), place, token.start as usize);
        let kind = match token.kind {
            TokenKind::Ident => "name",
            TokenKind::TypeName => "type-name",
            TokenKind::Underscore => "underscore",
            TokenKind::Tine => "tine",
            TokenKind::Keyword(_) => "keyword",
            TokenKind::Primitive(..) => "primitive",
            TokenKind::Int => "integer",
            TokenKind::Float => "float",
            TokenKind::Str => "string",
            TokenKind::Sign(_) => "sign",
            TokenKind::Newline => "newline",
            TokenKind::Indent => "indent",
            TokenKind::Dedent => "dedent",
            TokenKind::Eof => "end-of-file",
            TokenKind::Error => "error",
        };
        let text = source.slice(token.span(source.id()));
        let separator = if text.is_empty() { "" } else { " " };
        out.push_str(&format!("{}:{} {kind}{separator}{text}\n", place.1, place.2));
    }
    out
}

/// Moves an (offset, line, column) place on to a later offset; one walk over the text serves all tokens.
fn advance(text: &str, (at, mut line, mut column): (usize, u32, u32), to: usize) -> (usize, u32, u32) {
    for character in text.get(at..to).unwrap_or("").chars() {
        match character {
            '\n' => (line, column) = (line + 1, 1),
            '\u{feff}' if line == 1 && column == 1 => {}
            _ => column += 1,
        }
    }
    (to.max(at), line, column)
}

/// What makes a source not worth reading on.
fn unreadable(source: &Source) -> Option<Diagnostic> {
    let id = source.id();
    if let Some(size) = source.oversize() {
        let message = format!("the file has {size} bytes; at most {MAX_SOURCE_BYTES} are read");
        return Some(Diagnostic::error(Code::LimitExceeded, Span::new(id, 0, 0), message));
    }
    let at = source.invalid_at()?;
    let message = format!("the byte at offset {at} is not part of valid UTF-8");
    let diagnostic = Diagnostic::error(Code::InvalidUtf8, Span::new(id, at, at + 1), message);
    Some(diagnostic.help("save the file as UTF-8"))
}
