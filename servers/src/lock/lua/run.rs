//! Runs a script.

use super::super::{ErrorReply, Redis, Reply, Text};
use super::Script;
use super::parse::{Block, Expr, Statement};
use crate::Ms;
use std::collections::BTreeMap;

/// A value of Lua.
#[derive(Clone, Debug, PartialEq)]
enum Value {
    Nil,
    Bool(bool),
    Number(f64),
    Text(Text),
    Table(Table),
}

#[derive(Clone, Debug, PartialEq, Default)]
struct Table {
    list: Vec<Value>,
    fields: BTreeMap<String, Value>,
}

type Ran<T> = Result<T, ErrorReply>;

/// The two scripts that a lock is made of.
enum Checked<'a> {
    Delete,
    Expire { ttl: &'a Text },
}

impl Script {
    /// Runs the script with these KEYS and ARGV.
    ///
    /// # Errors
    ///
    /// What the script fails with.
    pub fn run(&self, redis: &mut Redis, now: Ms, keys: &[Text], arguments: &[Text]) -> Ran<Reply> {
        if let ([key], [owner, ..]) = (keys, arguments)
            && let Some(checked) = self.checked(arguments)
        {
            let keys = &mut redis.server.keys;
            match checked {
                Checked::Delete => return Ok(Reply::flag(keys.delete_if(now, key, owner))),
                Checked::Expire { ttl } => {
                    if let Ok(ttl @ 1..) = ttl.parse::<Ms>() {
                        let ends = now.saturating_add(ttl);
                        return Ok(Reply::flag(keys.expire_if(now, key, owner, ends)));
                    }
                }
            }
        }
        let list = |texts: &[Text]| {
            Value::Table(Table {
                list: texts.iter().cloned().map(Value::Text).collect(),
                fields: BTreeMap::new(),
            })
        };
        let mut running = Running {
            names: BTreeMap::from([
                ("KEYS".to_owned(), list(keys)),
                ("ARGV".to_owned(), list(arguments)),
            ]),
            redis,
            now,
        };
        let returned = running.block(&self.body)?;
        reply(returned.unwrap_or(Value::Nil))
    }

    /// Whether this is `if redis.call('get',KEYS[1])==ARGV[1] then return redis.call(...) else
    /// return 0 end`: it then runs on the functions that a simulator calls.
    fn checked<'a>(&self, arguments: &'a [Text]) -> Option<Checked<'a>> {
        let [Statement::If { cases, otherwise }] = &self.body[..] else {
            return None;
        };
        let [Statement::Return(Expr::Number(0.0))] = &otherwise[..] else {
            return None;
        };
        let [(Expr::Binary("==", left, right), body)] = &cases[..] else {
            return None;
        };
        let [Statement::Return(Expr::Call(function, given))] = &body[..] else {
            return None;
        };
        let asks = matches!(&**left, Expr::Call(function, given)
            if function == "redis.call" && is_command(given, "get") && is_key(given.get(1)));
        let owned = is_nth(right, "ARGV", 1.0);
        if !asks || !owned || function != "redis.call" || !is_key(given.get(1)) {
            return None;
        }
        match &given[2..] {
            [] if is_command(given, "del") => Some(Checked::Delete),
            [ttl] if is_command(given, "pexpire") && is_nth(ttl, "ARGV", 2.0) => {
                Some(Checked::Expire {
                    ttl: arguments.get(1)?,
                })
            }
            _ => None,
        }
    }
}

fn is_command(given: &[Expr], name: &str) -> bool {
    matches!(given.first(), Some(Expr::Text(word)) if word.eq_ignore_ascii_case(name))
}

fn is_key(given: Option<&Expr>) -> bool {
    given.is_some_and(|given| is_nth(given, "KEYS", 1.0))
}

fn is_nth(value: &Expr, list: &str, n: f64) -> bool {
    matches!(value, Expr::Index(of, at)
        if matches!(&**of, Expr::Name(name) if name == list) && **at == Expr::Number(n))
}

struct Running<'a> {
    names: BTreeMap<String, Value>,
    redis: &'a mut Redis,
    now: Ms,
}

impl Running<'_> {
    /// Gives what was returned, if the block returns.
    fn block(&mut self, block: &Block) -> Ran<Option<Value>> {
        for statement in block {
            if let Some(returned) = self.statement(statement)? {
                return Ok(Some(returned));
            }
        }
        Ok(None)
    }

    fn statement(&mut self, statement: &Statement) -> Ran<Option<Value>> {
        match statement {
            Statement::Return(value) => return Ok(Some(self.value(value)?)),
            Statement::Call(call) => {
                self.value(call)?;
            }
            Statement::Assign { name, value } => {
                let value = self.value(value)?;
                self.names.insert(name.clone(), value);
            }
            Statement::If { cases, otherwise } => {
                for (condition, body) in cases {
                    if self.value(condition)?.is_true() {
                        return self.block(body);
                    }
                }
                return self.block(otherwise);
            }
            Statement::For {
                name,
                from,
                to,
                body,
            } => {
                let (mut at, to) = (self.number(from)?, self.number(to)?);
                while at <= to {
                    self.names.insert(name.clone(), Value::Number(at));
                    if let Some(returned) = self.block(body)? {
                        return Ok(Some(returned));
                    }
                    at += 1.0;
                }
            }
        }
        Ok(None)
    }

    fn value(&mut self, expr: &Expr) -> Ran<Value> {
        Ok(match expr {
            Expr::Nil => Value::Nil,
            Expr::Bool(is) => Value::Bool(*is),
            Expr::Number(number) => Value::Number(*number),
            Expr::Text(text) => Value::Text(text.as_str().into()),
            Expr::Name(name) => self.names.get(name).cloned().unwrap_or(Value::Nil),
            Expr::Index(of, at) => {
                let Value::Table(table) = self.value(of)? else {
                    return Err(fails("attempt to index a value that is no table"));
                };
                match self.value(at)? {
                    Value::Number(n) if n >= 1.0 => table.list.get(n as usize - 1).cloned(),
                    Value::Text(field) => table.fields.get(&*field).cloned(),
                    _ => None,
                }
                .unwrap_or(Value::Nil)
            }
            Expr::Table(given) => {
                let mut table = Table::default();
                for (name, value) in given {
                    let value = self.value(value)?;
                    match name {
                        Some(name) => drop(table.fields.insert(name.clone(), value)),
                        None => table.list.push(value),
                    }
                }
                Value::Table(table)
            }
            Expr::Unary("not", of) => Value::Bool(!self.value(of)?.is_true()),
            Expr::Unary("#", of) => Value::Number(match self.value(of)? {
                Value::Text(text) => text.len() as f64,
                Value::Table(table) => table.list.len() as f64,
                _ => return Err(fails("attempt to get length of a value")),
            }),
            Expr::Unary(_, of) => Value::Number(-self.number(of)?),
            Expr::Binary(operator, left, right) => self.binary(operator, left, right)?,
            Expr::Call(function, arguments) => {
                let arguments = arguments.iter().map(|argument| self.value(argument));
                let arguments = arguments.collect::<Ran<Vec<Value>>>()?;
                self.call(function, arguments)?
            }
        })
    }

    fn binary(&mut self, operator: &str, left: &Expr, right: &Expr) -> Ran<Value> {
        let first = self.value(left)?;
        match operator {
            "and" if !first.is_true() => return Ok(first),
            "or" if first.is_true() => return Ok(first),
            "and" | "or" => return self.value(right),
            _ => {}
        }
        let second = self.value(right)?;
        match operator {
            "==" => return Ok(Value::Bool(first == second)),
            "~=" => return Ok(Value::Bool(first != second)),
            ".." => {
                return Ok(Value::Text(
                    format!("{}{}", first.text()?, second.text()?).into(),
                ));
            }
            _ => {}
        }
        if let "<" | ">" | "<=" | ">=" = operator {
            let order = match (&first, &second) {
                (Value::Number(a), Value::Number(b)) => a.partial_cmp(b),
                (Value::Text(a), Value::Text(b)) => Some(a.cmp(b)),
                _ => return Err(fails("attempt to compare two values of different types")),
            };
            return Ok(Value::Bool(order.is_some_and(|order| match operator {
                "<" => order.is_lt(),
                ">" => order.is_gt(),
                "<=" => order.is_le(),
                _ => order.is_ge(),
            })));
        }
        let (a, b) = (first.number()?, second.number()?);
        Ok(Value::Number(match operator {
            "+" => a + b,
            "-" => a - b,
            "*" => a * b,
            "/" => a / b,
            _ => a - (a / b).floor() * b,
        }))
    }

    fn number(&mut self, expr: &Expr) -> Ran<f64> {
        self.value(expr)?.number()
    }

    fn call(&mut self, function: &str, arguments: Vec<Value>) -> Ran<Value> {
        let first = arguments.first().unwrap_or(&Value::Nil);
        match function {
            "redis.call" | "redis.pcall" => {
                let words = arguments.iter().map(Value::text);
                let words = words.collect::<Ran<Vec<Text>>>()?;
                match self.redis.run_alone(self.now, &words) {
                    Ok(reply) => Ok(heard(reply)),
                    Err(error) if function == "redis.pcall" => Ok(named("err", &error.0)),
                    Err(error) => Err(error),
                }
            }
            "redis.error_reply" => Ok(named("err", &first.text()?)),
            "redis.status_reply" => Ok(named("ok", &first.text()?)),
            "tonumber" => Ok(first.number().map_or(Value::Nil, Value::Number)),
            "tostring" => Ok(match first {
                Value::Nil => Value::Text("nil".into()),
                Value::Bool(is) => Value::Text(is.to_string().into()),
                other => Value::Text(other.text()?),
            }),
            "math.floor" => Ok(Value::Number(first.number()?.floor())),
            "math.max" | "math.min" => {
                let mut best = first.number()?;
                for argument in &arguments[1..] {
                    let number = argument.number()?;
                    best = if function == "math.max" {
                        best.max(number)
                    } else {
                        best.min(number)
                    };
                }
                Ok(Value::Number(best))
            }
            _ => Err(fails("attempt to call a function that is not modelled")),
        }
    }
}

impl Value {
    fn is_true(&self) -> bool {
        !matches!(self, Value::Nil | Value::Bool(false))
    }

    fn number(&self) -> Ran<f64> {
        match self {
            Value::Number(number) => Some(*number),
            Value::Text(text) => text.trim().parse().ok(),
            _ => None,
        }
        .ok_or_else(|| fails("attempt to perform arithmetic on a value"))
    }

    fn text(&self) -> Ran<Text> {
        match self {
            Value::Text(text) => Ok(text.clone()),
            Value::Number(number) => Ok(number.to_string().into()),
            _ => Err(fails(
                "Lua redis lib command arguments must be strings or integers",
            )),
        }
    }
}

/// A table with one field, as Lua sees a status or an error.
fn named(field: &str, text: &str) -> Value {
    Value::Table(Table {
        list: Vec::new(),
        fields: BTreeMap::from([(field.to_owned(), Value::Text(text.into()))]),
    })
}

/// What Lua sees of an answer: nil is false.
fn heard(reply: Reply) -> Value {
    match reply {
        Reply::Status(text) => named("ok", &text),
        Reply::Error(error) => named("err", &error.0),
        Reply::Int(number) => Value::Number(number as f64),
        Reply::Bulk(text) => Value::Text(text),
        Reply::Nil => Value::Bool(false),
        Reply::List(list) => Value::Table(Table {
            list: list.into_iter().map(heard).collect(),
            fields: BTreeMap::new(),
        }),
    }
}

/// What the client sees of a value: numbers lose their fraction, false is nil, a list ends at its
/// first nil.
fn reply(value: Value) -> Ran<Reply> {
    Ok(match value {
        Value::Nil | Value::Bool(false) => Reply::Nil,
        Value::Bool(true) => Reply::Int(1),
        Value::Number(number) => Reply::Int(number as i64),
        Value::Text(text) => Reply::Bulk(text),
        Value::Table(table) => {
            if let Some(Value::Text(error)) = table.fields.get("err") {
                return Err(ErrorReply(error.to_string().into()));
            }
            if let Some(Value::Text(status)) = table.fields.get("ok") {
                return Ok(Reply::Status(status.to_string().into()));
            }
            let there = table
                .list
                .into_iter()
                .take_while(|value| *value != Value::Nil);
            Reply::List(there.map(reply).collect::<Ran<_>>()?)
        }
    })
}

fn fails(text: &'static str) -> ErrorReply {
    ErrorReply(format!("ERR {text}").into())
}

#[cfg(test)]
mod tests;
