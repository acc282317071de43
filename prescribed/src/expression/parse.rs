//! Parser: from text to a tree.

use super::{FUNCTIONS, MANY, Mistake, Node, Operator, Scope, VARIABLES, nearest};

/// Maximum nesting depth of parentheses, calls, signs and powers, which bounds the recursion.
const DEEPEST: usize = 64;

/// Maximum number of characters of an expression, which bounds the tree.
const LONGEST: usize = 4096;

#[derive(Debug, Clone, PartialEq)]
enum Token {
    Number(f64),
    Name(String),
    Operator(Operator),
    Open,
    Close,
    Comma,
    End,
}

impl Token {
    fn name(&self) -> String {
        match self {
            Self::Number(value) => format!("the number {value}"),
            Self::Name(name) => format!("`{name}`"),
            Self::Operator(_) => "an operator".into(),
            Self::Open => "`(`".into(),
            Self::Close => "`)`".into(),
            Self::Comma => "`,`".into(),
            Self::End => "the end".into(),
        }
    }
}

struct Parser<'a> {
    tokens: Vec<(Token, usize)>,
    at: usize,
    depth: usize,
    scope: &'a Scope,
}

fn mistake(column: usize, what: impl Into<String>, hint: impl Into<String>) -> Mistake {
    Mistake {
        column,
        what: what.into(),
        hint: hint.into(),
    }
}

pub(super) fn parse(text: &str, scope: &Scope) -> Result<Node, Mistake> {
    if text.len() > LONGEST {
        let hint = format!("the limit is {LONGEST} characters; use a table of values instead");
        return Err(mistake(
            1,
            format!("it has {} characters", text.len()),
            hint,
        ));
    }
    let mut parser = Parser {
        tokens: tokens(text)?,
        at: 0,
        depth: 0,
        scope,
    };
    let root = parser.comparison()?;
    match parser.peek() {
        (Token::End, _) => Ok(root),
        (token, column) => Err(mistake(
            *column,
            format!("{} is not expected here", token.name()),
            "an operator may be missing: 2*x, not 2 x",
        )),
    }
}

/// The tokens with their columns; the last one is the end token.
fn tokens(text: &str) -> Result<Vec<(Token, usize)>, Mistake> {
    let characters: Vec<char> = text.chars().collect();
    let (mut tokens, mut at) = (Vec::new(), 0);
    while let Some(&c) = characters.get(at) {
        let (column, next) = (at + 1, characters.get(at + 1));
        let (token, length) = match (c, next) {
            (c, _) if c.is_whitespace() => {
                at += 1;
                continue;
            }
            ('*', Some('*')) => {
                return Err(mistake(
                    column,
                    "`**` is not an operator",
                    "powers are written with ^",
                ));
            }
            ('<', Some('=')) => (Token::Operator(Operator::LessOrEqual), 2),
            ('>', Some('=')) => (Token::Operator(Operator::GreaterOrEqual), 2),
            ('=', Some('=')) => (Token::Operator(Operator::Equal), 2),
            ('!', Some('=')) => (Token::Operator(Operator::Unequal), 2),
            ('<', _) => (Token::Operator(Operator::Less), 1),
            ('>', _) => (Token::Operator(Operator::Greater), 1),
            ('+', _) => (Token::Operator(Operator::Add), 1),
            ('-', _) => (Token::Operator(Operator::Subtract), 1),
            ('*', _) => (Token::Operator(Operator::Multiply), 1),
            ('/', _) => (Token::Operator(Operator::Divide), 1),
            ('^', _) => (Token::Operator(Operator::Power), 1),
            ('(', _) => (Token::Open, 1),
            (')', _) => (Token::Close, 1),
            (',', _) => (Token::Comma, 1),
            ('0'..='9' | '.', _) => number(&characters[at..], column)?,
            (c, _) if c.is_ascii_alphabetic() || c == '_' => {
                let is_name = |c: &&char| c.is_ascii_alphanumeric() || **c == '_';
                let name: String = characters[at..].iter().take_while(is_name).collect();
                let length = name.len();
                (Token::Name(name), length)
            }
            ('=', _) => {
                return Err(mistake(
                    column,
                    "`=` is not an operator",
                    "comparisons: < <= > >= == !=",
                ));
            }
            (c, _) => {
                return Err(mistake(
                    column,
                    format!("`{c}` has no meaning here"),
                    "operators: + - * / ^ < <= > >= == !=, numbers with a point",
                ));
            }
        };
        tokens.push((token, column));
        at += length;
    }
    tokens.push((Token::End, characters.len() + 1));
    Ok(tokens)
}

/// A decimal number with an optional exponent; its value and length.
fn number(from: &[char], column: usize) -> Result<(Token, usize), Mistake> {
    let digits = |at: usize| from[at..].iter().take_while(|c| c.is_ascii_digit()).count();
    let mut length = digits(0);
    if from.get(length) == Some(&'.') {
        length += 1 + digits(length + 1);
    }
    if matches!(from.get(length), Some('e' | 'E')) {
        let sign = usize::from(matches!(from.get(length + 1), Some('+' | '-')));
        let exponent = digits(length + 1 + sign);
        if exponent > 0 {
            length += 1 + sign + exponent;
        }
    }
    let text: String = from[..length].iter().collect();
    match text.parse::<f64>() {
        Ok(value) if value.is_finite() => Ok((Token::Number(value), length)),
        _ => Err(mistake(
            column,
            format!("`{text}` is not a finite number"),
            "write 0.5 or 1e-3",
        )),
    }
}

impl Parser<'_> {
    fn peek(&self) -> &(Token, usize) {
        &self.tokens[self.at]
    }

    /// Takes the next token; the end token is never consumed.
    fn take(&mut self) -> (Token, usize) {
        let token = self.tokens[self.at].clone();
        self.at = (self.at + 1).min(self.tokens.len() - 1);
        token
    }

    /// Takes the next token if it is one of these operators.
    fn operator(&mut self, among: &[Operator]) -> Option<Operator> {
        match self.peek() {
            (Token::Operator(found), _) if among.contains(found) => {
                let found = *found;
                self.take();
                Some(found)
            }
            _ => None,
        }
    }

    fn deeper<T>(
        &mut self,
        inner: impl FnOnce(&mut Self) -> Result<T, Mistake>,
    ) -> Result<T, Mistake> {
        self.depth += 1;
        if self.depth > DEEPEST {
            let column = self.peek().1;
            let hint = format!("at most {DEEPEST} nested parentheses, calls and signs");
            return Err(mistake(column, "this is nested too deeply", hint));
        }
        let made = inner(self);
        self.depth -= 1;
        made
    }

    fn comparison(&mut self) -> Result<Node, Mistake> {
        const ALL: [Operator; 6] = [
            Operator::Less,
            Operator::LessOrEqual,
            Operator::Greater,
            Operator::GreaterOrEqual,
            Operator::Equal,
            Operator::Unequal,
        ];
        let left = self.sum()?;
        let Some(operator) = self.operator(&ALL) else {
            return Ok(left);
        };
        let right = self.sum()?;
        let column = self.peek().1;
        match self.operator(&ALL) {
            None => Ok(Node::Two(operator, Box::new([left, right]))),
            Some(_) => Err(mistake(
                column,
                "comparisons do not chain",
                "write (a < b) * (b < c)",
            )),
        }
    }

    fn sum(&mut self) -> Result<Node, Mistake> {
        let mut left = self.product()?;
        while let Some(operator) = self.operator(&[Operator::Add, Operator::Subtract]) {
            left = Node::Two(operator, Box::new([left, self.product()?]));
        }
        Ok(left)
    }

    fn product(&mut self) -> Result<Node, Mistake> {
        let mut left = self.signed()?;
        while let Some(operator) = self.operator(&[Operator::Multiply, Operator::Divide]) {
            left = Node::Two(operator, Box::new([left, self.signed()?]));
        }
        Ok(left)
    }

    fn signed(&mut self) -> Result<Node, Mistake> {
        match self.operator(&[Operator::Add, Operator::Subtract]) {
            None => self.powered(),
            Some(Operator::Subtract) => {
                let of = self.deeper(Self::signed)?;
                Ok(Node::Negative(Box::new(of)))
            }
            Some(_) => self.deeper(Self::signed),
        }
    }

    fn powered(&mut self) -> Result<Node, Mistake> {
        let base = self.atom()?;
        match self.operator(&[Operator::Power]) {
            None => Ok(base),
            Some(operator) => {
                let exponent = self.deeper(Self::signed)?;
                Ok(Node::Two(operator, Box::new([base, exponent])))
            }
        }
    }

    fn atom(&mut self) -> Result<Node, Mistake> {
        match self.take() {
            (Token::Number(value), _) => Ok(Node::Number(value)),
            (Token::Name(name), column) => self.named(&name, column),
            (Token::Open, column) => {
                let inner = self.deeper(Self::comparison)?;
                match self.take() {
                    (Token::Close, _) => Ok(inner),
                    _ => Err(mistake(column, "this `(` is not closed", "add `)`")),
                }
            }
            (token, column) => Err(mistake(
                column,
                format!("a number, a name or `(` is missing before {}", token.name()),
                nearest("", self.scope),
            )),
        }
    }

    fn named(&mut self, name: &str, column: usize) -> Result<Node, Mistake> {
        let is_call = matches!(self.peek(), (Token::Open, _));
        if let Some(function) = FUNCTIONS.iter().find(|function| function.name == name) {
            if !is_call {
                let what = format!("`{name}` is a function");
                return Err(mistake(column, what, format!("write {name}(...)")));
            }
            let arguments = self.deeper(Self::arguments)?;
            if (function.least..=function.most).contains(&arguments.len()) {
                return Ok(Node::Call(function, arguments));
            }
            let wanted = match (function.least, function.most) {
                (least, MANY) => format!("{least} or more"),
                (least, _) => least.to_string(),
            };
            let plural = if arguments.len() == 1 { "" } else { "s" };
            let what = format!("`{name}` has {} argument{plural}", arguments.len());
            return Err(mistake(column, what, format!("it takes {wanted}")));
        }
        let constant = self
            .scope
            .constants
            .iter()
            .find(|(known, _)| *known == name);
        let found = match VARIABLES.iter().position(|known| *known == name) {
            Some(which) if self.scope.takes(which) => Some(Node::Variable(which)),
            Some(_) => {
                let what = format!("there is no {name} here");
                return Err(mistake(column, what, nearest(name, self.scope)));
            }
            None => constant.map(|(_, value)| Node::Number(*value)),
        };
        match found {
            Some(_) if is_call => {
                let column = self.peek().1;
                let what = format!("`{name}` is not a function");
                Err(mistake(column, what, format!("write {name}*(...)")))
            }
            Some(found) => Ok(found),
            None => {
                let what = format!("unknown name `{name}`");
                Err(mistake(column, what, nearest(name, self.scope)))
            }
        }
    }

    /// The arguments of a call, from its `(` to its `)`.
    fn arguments(&mut self) -> Result<Vec<Node>, Mistake> {
        let (_, column) = self.take();
        let mut arguments = Vec::new();
        loop {
            arguments.push(self.comparison()?);
            match self.take() {
                (Token::Comma, _) => {}
                (Token::Close, _) => return Ok(arguments),
                (Token::End, _) => {
                    return Err(mistake(column, "this `(` is not closed", "add `)`"));
                }
                (token, column) => {
                    let what = format!("{} is not expected here", token.name());
                    return Err(mistake(column, what, "arguments are separated by commas"));
                }
            }
        }
    }
}
