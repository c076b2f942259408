//! From words to a script.

use super::NotLua;
use super::words::{Word, words};

/// A script that is ready to run.
#[derive(Clone, Debug, PartialEq)]
pub struct Script {
    pub(super) body: Block,
}

pub(super) type Block = Vec<Statement>;

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Statement {
    /// `local name = value`, or `name = value`.
    Assign {
        name: String,
        value: Expr,
    },
    /// `if ... then ... elseif ... else ... end`.
    If {
        cases: Vec<(Expr, Block)>,
        otherwise: Block,
    },
    /// `for name = from, to do ... end`.
    For {
        name: String,
        from: Expr,
        to: Expr,
        body: Block,
    },
    Return(Expr),
    /// A call whose answer nobody reads.
    Call(Expr),
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Expr {
    Nil,
    Bool(bool),
    Number(f64),
    Text(String),
    Name(String),
    /// `KEYS[1]`, `reply.ok`.
    Index(Box<Expr>, Box<Expr>),
    /// A function by its dotted name.
    Call(String, Vec<Expr>),
    /// `not`, `-`, `#`.
    Unary(&'static str, Box<Expr>),
    Binary(&'static str, Box<Expr>, Box<Expr>),
    /// `{1, 2}`, `{ok = 'x'}`.
    Table(Vec<(Option<String>, Expr)>),
}

/// The operators, the loosest first; those of one line bind alike.
const BINARY: [&[&str]; 6] = [
    &["or"],
    &["and"],
    &["==", "~=", "<=", ">=", "<", ">"],
    &[".."],
    &["+", "-"],
    &["*", "/", "%"],
];

impl Script {
    /// Reads a script.
    ///
    /// # Errors
    ///
    /// If it is no Lua, or uses more of it than the model knows.
    pub fn parse(text: &str) -> Result<Script, NotLua> {
        let words = words(text)?;
        let mut parser = Parser { words, at: 0 };
        let body = parser.block()?;
        match parser.words.get(parser.at) {
            None => Ok(Script { body }),
            Some(word) => Err(NotLua(format!("{word:?}"))),
        }
    }
}

struct Parser {
    words: Vec<Word>,
    at: usize,
}

impl Parser {
    fn block(&mut self) -> Result<Block, NotLua> {
        let mut block = Vec::new();
        while self.at < self.words.len()
            && !["end", "else", "elseif"].iter().any(|end| self.sees(end))
        {
            block.push(self.statement()?);
        }
        Ok(block)
    }

    fn statement(&mut self) -> Result<Statement, NotLua> {
        if self.takes("return") {
            let ends = self.at == self.words.len()
                || ["end", "else", "elseif"].iter().any(|end| self.sees(end));
            let value = if ends { Expr::Nil } else { self.expr(0)? };
            return Ok(Statement::Return(value));
        }
        if self.takes("if") {
            let mut cases = vec![self.case()?];
            while self.takes("elseif") {
                cases.push(self.case()?);
            }
            let otherwise = if self.takes("else") {
                self.block()?
            } else {
                Vec::new()
            };
            self.expect("end")?;
            return Ok(Statement::If { cases, otherwise });
        }
        if self.takes("for") {
            let name = self.name()?;
            self.expect("=")?;
            let from = self.expr(0)?;
            self.expect(",")?;
            let to = self.expr(0)?;
            self.expect("do")?;
            let body = self.block()?;
            self.expect("end")?;
            return Ok(Statement::For {
                name,
                from,
                to,
                body,
            });
        }
        if self.takes("local") {
            let name = self.name()?;
            let value = if self.takes("=") {
                self.expr(0)?
            } else {
                Expr::Nil
            };
            return Ok(Statement::Assign { name, value });
        }
        match self.expr(0)? {
            call @ Expr::Call(..) => Ok(Statement::Call(call)),
            Expr::Name(name) if self.takes("=") => Ok(Statement::Assign {
                name,
                value: self.expr(0)?,
            }),
            other => Err(NotLua(format!("{other:?} as a statement"))),
        }
    }

    fn case(&mut self) -> Result<(Expr, Block), NotLua> {
        let condition = self.expr(0)?;
        self.expect("then")?;
        Ok((condition, self.block()?))
    }

    fn expr(&mut self, level: usize) -> Result<Expr, NotLua> {
        let Some(operators) = BINARY.get(level) else {
            return self.unary();
        };
        let mut left = self.expr(level + 1)?;
        while let Some(operator) = operators.iter().find(|operator| self.takes(operator)) {
            let right = self.expr(level + 1)?;
            left = Expr::Binary(operator, left.into(), right.into());
        }
        Ok(left)
    }

    fn unary(&mut self) -> Result<Expr, NotLua> {
        for operator in ["not", "-", "#"] {
            if self.takes(operator) {
                return Ok(Expr::Unary(operator, self.unary()?.into()));
            }
        }
        let mut value = self.primary()?;
        loop {
            if self.takes("[") {
                let index = self.expr(0)?;
                self.expect("]")?;
                value = Expr::Index(value.into(), index.into());
            } else if self.takes(".") {
                let field = Expr::Text(self.name()?);
                value = Expr::Index(value.into(), field.into());
            } else if self.takes("(") {
                let name =
                    dotted(&value).ok_or_else(|| NotLua(format!("{value:?} as a function")))?;
                value = Expr::Call(name, self.list(")")?);
            } else {
                return Ok(value);
            }
        }
    }

    fn primary(&mut self) -> Result<Expr, NotLua> {
        if self.takes("(") {
            let inner = self.expr(0)?;
            self.expect(")")?;
            return Ok(inner);
        }
        if self.takes("{") {
            return self.table();
        }
        let word = self.words.get(self.at).cloned();
        self.at += 1;
        match word {
            Some(Word::Number(number)) => Ok(Expr::Number(number)),
            Some(Word::Text(text)) => Ok(Expr::Text(text)),
            Some(Word::Name(name)) => Ok(match name.as_str() {
                "nil" => Expr::Nil,
                "true" => Expr::Bool(true),
                "false" => Expr::Bool(false),
                "function" | "while" | "repeat" | "in" | "do" | "break" | "goto" => {
                    return Err(NotLua(format!("`{name}`")));
                }
                _ => Expr::Name(name),
            }),
            word => Err(NotLua(format!("{word:?}"))),
        }
    }

    fn table(&mut self) -> Result<Expr, NotLua> {
        let mut fields = Vec::new();
        while !self.takes("}") {
            let named = matches!(self.words.get(self.at + 1), Some(Word::Sign("=")));
            let name = if named {
                let name = self.name()?;
                self.expect("=")?;
                Some(name)
            } else {
                None
            };
            fields.push((name, self.expr(0)?));
            if !self.takes(",") {
                self.expect("}")?;
                break;
            }
        }
        Ok(Expr::Table(fields))
    }

    fn list(&mut self, end: &str) -> Result<Vec<Expr>, NotLua> {
        let mut list = Vec::new();
        while !self.takes(end) {
            list.push(self.expr(0)?);
            if !self.takes(",") {
                self.expect(end)?;
                break;
            }
        }
        Ok(list)
    }

    fn name(&mut self) -> Result<String, NotLua> {
        match self.words.get(self.at) {
            Some(Word::Name(name)) => {
                self.at += 1;
                Ok(name.clone())
            }
            word => Err(NotLua(format!("{word:?} where a name should be"))),
        }
    }

    fn sees(&self, word: &str) -> bool {
        match self.words.get(self.at) {
            Some(Word::Name(name)) => name == word,
            Some(Word::Sign(sign)) => *sign == word,
            _ => false,
        }
    }

    fn takes(&mut self, word: &str) -> bool {
        let sees = self.sees(word);
        self.at += usize::from(sees);
        sees
    }

    fn expect(&mut self, word: &str) -> Result<(), NotLua> {
        if self.takes(word) {
            return Ok(());
        }
        let found = self.words.get(self.at);
        Err(NotLua(format!("{found:?} where `{word}` should be")))
    }
}

/// `redis.call` of what was read as an index of a name.
fn dotted(value: &Expr) -> Option<String> {
    match value {
        Expr::Name(name) => Some(name.clone()),
        Expr::Index(of, field) => match (&**of, &**field) {
            (Expr::Name(of), Expr::Text(field)) => Some(format!("{of}.{field}")),
            _ => None,
        },
        _ => None,
    }
}
